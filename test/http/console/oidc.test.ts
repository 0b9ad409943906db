import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, send } from '../../support/http.ts';
import { type TestService, testService } from '../support.ts';
import { BEHIND_PROXY, cookieOf, expectProblem, personWith } from './support.ts';

const CLIENT = { client_id: 'console', client_secret: 'a secret of the provider' };
const CALLBACK = '/dashboard/api/sign-in/oidc/callback';

/** The people of the provider. The account's id is the name that somebody types. */
const PEOPLE: Readonly<Record<string, { readonly email: string; readonly email_verified: boolean }>> = {
  ada: { email: 'Ada@Example.com', email_verified: true },
  bob: { email: 'bob@example.com', email_verified: true },
  eve: { email: 'ada@example.com', email_verified: false },
};

let providerServer: Server;
let issuer: string;
let service: TestService;

beforeAll(async () => {
  let handle: ReturnType<Provider['callback']> | undefined;
  providerServer = createServer((req, res) => void handle?.(req, res));
  await new Promise<void>((resolve) => providerServer.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(providerServer.address() as AddressInfo).port}`;
  service = await testService({
    env: {
      ...BEHIND_PROXY,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
    },
  });
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [service.url + CALLBACK] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id, ...PEOPLE[id] }) }),
    cookies: { keys: ['of the test'] },
    // Without these, the provider prints a notice for each.
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    // The provider's own pages, where somebody types any name.
    features: { devInteractions: { enabled: true } },
  });
  handle = provider.callback();
  await service.metadata.setMember(service.account, 'ada@example.com', 'viewer');
});
afterAll(async () => {
  await service?.close();
  providerServer?.closeAllConnections();
  providerServer?.close();
});

let addresses = 0;
/** A browser's jar for the provider's cookies. */
class Browser {
  readonly #jar = new Map<string, string>();
  readonly #address = `10.1.0.${++addresses}`;
  readonly #accept: string | undefined;

  constructor(accept?: string) {
    this.#accept = accept;
  }

  async go(url: string, form?: Readonly<Record<string, string>>): Promise<Answer> {
    const { origin, pathname, search } = new URL(url);
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const answer = await send(origin, pathname + search, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Cookie: [...this.#jar].map(([name, value]) => `${name}=${value}`).join('; '),
        'X-Forwarded-For': this.#address,
        ...(this.#accept === undefined ? {} : { Accept: this.#accept }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const set of [answer.headers['set-cookie'] ?? []].flat() as string[]) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      this.#jar.set(name, value);
    }
    return answer;
  }

  /** Follows redirects to the provider's next page, or back to the service. */
  async follow(url: string): Promise<{ readonly url: string; readonly answer: Answer }> {
    for (let at = url; ; ) {
      if (at.startsWith(service.url + CALLBACK)) return { url: at, answer: await this.go(at) };
      const answer = await this.go(at);
      if (answer.status < 300 || answer.status >= 400) return { url: at, answer };
      at = new URL(answer.headers['location'] ?? '', at).href;
    }
  }

  /** Signs in at the provider, and returns the service's answer and the address that led to it. */
  async signIn(name: string): Promise<{ readonly url: string; readonly answer: Answer }> {
    const login = await this.follow(`${service.url}/dashboard/api/sign-in/oidc`);
    const submit = async (page: { url: string; answer: Answer }, form: Record<string, string>) => {
      const [, action = ''] = /action="([^"]+)"/.exec(page.answer.text) ?? [];
      const { headers } = await this.go(new URL(action, page.url).href, form);
      return this.follow(new URL(headers['location'] ?? '', page.url).href);
    };
    const consent = await submit(login, { prompt: 'login', login: name, password: 'any' });
    return submit(consent, { prompt: 'consent' });
  }
}

describe('OpenID Connect', () => {
  test('signs a member in, with the role of the member', async () => {
    const { answer } = await new Browser().signIn('ada');
    expect(answer.status, answer.text).toBe(200);
    // No redirect: the strict cookie would not come with it.
    expect(answer.text).toContain('url=/dashboard"');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    const cookies = [answer.headers['set-cookie'] ?? []].flat() as string[];
    expect(cookies.find((one) => one.startsWith('analytics_session='))).toContain('SameSite=Strict');
    const person = personWith(service, cookieOf(answer));
    const session = await person.ask('/session');
    expect(session.json).toMatchObject({ email: 'ada@example.com', role: 'viewer' });
    expectProblem(await person.ask('/keys', { method: 'POST' }), 'forbidden');
    expect((await service.metadata.listAudit(service.account))[0]).toMatchObject({
      actor: 'ada@example.com',
      action: 'session.open',
    });
  });

  test('refuses strangers, and addresses that are not verified', async () => {
    expectProblem((await new Browser().signIn('bob')).answer, 'forbidden');
    expectProblem((await new Browser().signIn('eve')).answer, 'forbidden');
  });

  test('leads a person who fails to the page of sign-in, which says why', async () => {
    const browser = new Browser('text/html,application/xhtml+xml,*/*;q=0.8');
    const leads = (answer: Answer): unknown => [answer.status, answer.headers['location']];
    const to = (problem: string) => [303, `/dashboard/sign-in?problem=${problem}`];
    const { url, answer } = await browser.signIn('bob');
    expect(leads(answer)).toEqual(to('no-member'));
    expect(leads(await browser.go(url))).toEqual(to('not-finished'));
    expect(leads((await new Browser('text/html').signIn('eve')).answer)).toEqual(to('not-confirmed'));
    const attempts = await Promise.all(
      Array.from({ length: 12 }, () => browser.go(`${service.url}/dashboard/api/sign-in/oidc`)),
    );
    expect(attempts.map(leads)).toContainEqual(to('busy'));
  });

  test('refuses an answer of another attempt, another browser, or a second time', async () => {
    const browser = new Browser();
    const { url } = await browser.signIn('ada');
    expectProblem(await browser.go(url), 'forbidden');
    expectProblem(await new Browser().go(url), 'forbidden');
    const other = new Browser();
    await other.go(`${service.url}/dashboard/api/sign-in/oidc`);
    expectProblem(await other.go(url), 'forbidden');
    expectProblem(await other.go(`${service.url}${CALLBACK}?error=access_denied`), 'forbidden');
  });

  test('says that it is there, and limits attempts', async () => {
    const { json } = await service.ask('/dashboard/api/sign-in', { key: null });
    expect(json).toEqual({ oidc: true });
    const browser = new Browser();
    const attempts = await Promise.all(
      Array.from({ length: 12 }, () => browser.go(`${service.url}/dashboard/api/sign-in/oidc`)),
    );
    expect(attempts.filter(({ status }) => status === 302)).toHaveLength(10);
    const [limited] = attempts.filter(({ status }) => status === 429);
    if (limited === undefined) throw new Error('nobody was refused');
    expectProblem(limited, 'rate_limited');
  });
});
