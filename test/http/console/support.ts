import { expect } from 'vitest';
import type { AccountId } from '../../../src/domain/ids.ts';
import { type Answer, type Ask, send } from '../../support/http.ts';
import { expectProblem, type TestService } from '../support.ts';

/** A browser on the console: it keeps the session's cookie and sends its Origin. */
export interface Person {
  readonly cookie: string;
  /** A request below /dashboard/api. */
  ask(path: string, ask?: Ask): Promise<Answer>;
}

export type Site = Pick<TestService, 'url' | 'metadata'>;

/** A request as a page of the console sends it. */
export function asPage(
  { url }: Pick<Site, 'url'>,
  cookie: string | null,
  path: string,
  ask: Ask = {},
): Promise<Answer> {
  const headers = { Origin: url, ...(cookie === null ? {} : { Cookie: cookie }), ...ask.headers };
  return send(url, `/dashboard/api${path}`, { ...ask, headers });
}

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieOf({ headers }: Answer, name = 'analytics_session'): string {
  const set =
    ([headers['set-cookie'] ?? []].flat() as string[]).find((one) => one.startsWith(`${name}=`)) ?? '';
  return set.split(';')[0] ?? '';
}

/** A service whose callers name their address, because attempts to sign in are limited by address. */
export const BEHIND_PROXY = { TRUST_PROXY: '1' };

let addresses = 0;

export function redeem(site: Site, token: string, address?: string): Promise<Answer> {
  addresses++;
  const headers = { 'X-Forwarded-For': address ?? `10.0.${addresses >> 8}.${addresses & 255}` };
  return asPage(site, null, '/sign-in/link', { method: 'POST', body: { token }, headers });
}

export function personWith(site: Site, cookie: string): Person {
  return { cookie, ask: (path, ask) => asPage(site, cookie, path, ask) };
}

/** Signs somebody in by a link; without an address as an owner. */
export async function signIn(site: Site, account: AccountId, email = ''): Promise<Person> {
  const { token } = await site.metadata.createSignInLink(account, email);
  const answer = await redeem(site, token);
  expect(answer.status, answer.text).toBe(200);
  return personWith(site, cookieOf(answer));
}

export async function viewer(site: Site, account: AccountId, email = 'viewer@example.com'): Promise<Person> {
  await site.metadata.setMember(account, email, 'viewer');
  return signIn(site, account, email);
}

export { expectProblem };
