import { ApiError, type Client, createClient } from '../client/index.ts';
import type { ConsoleAnswers, LinkAnswer } from '../http/console/schemas.ts';
import { OPENED } from './link/opened.ts';

/*
 * Every request of the console. The cookie of the session goes along by itself; browsers add the Origin header that
 * the service asks for with each request that changes something. See docs/console.md.
 */

export { ApiError } from '../client/index.ts';

export type Route = keyof ConsoleAnswers;
export type Answer<R extends Route> = ConsoleAnswers[R];

/** The parameters in a route's path: `appId` of `GET /apps/:appId/shares`. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
export type PathParams<R extends Route> = { readonly [Name in Names<R>]: string };

export interface Asked<R extends Route> {
  readonly params?: PathParams<R>;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

const BASE = '/dashboard';

let signedOut = (): void => {};
/** `listener` hears that the service knows no session any more. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

/** Tells the listener of an error that means so, such as the end of a stream. */
export function hear(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) signedOut();
}

/** Like the global fetch; tells the listener of a 401. The client's key is not sent: the session counts. */
async function fetchBySession(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.delete('Authorization');
  const response = await fetch(input, { ...init, headers, credentials: 'same-origin' });
  // A link that does not work says nothing about the session.
  if (response.status === 401 && !response.url.endsWith('/sign-in/link')) signedOut();
  return response;
}

/** The same for somebody who opened a link: the token is the credential, and no cookie goes along. */
async function fetchByLink(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(input, { ...init, credentials: 'omit' });
  if (response.status === 401) signedOut();
  return response;
}

/**
 * The Public API by session, or by the link that this window shows. It keeps answers by ETag, tries again where that helps,
 * and streams.
 */
export const client: Client =
  OPENED === null
    ? createClient({ baseUrl: `${location.origin}${BASE}`, apiKey: 'by-session', fetch: fetchBySession })
    : createClient({
        baseUrl: `${location.origin}/shared`,
        apiKey: OPENED.token === '' ? 'none' : OPENED.token,
        fetch: fetchByLink,
      });

/** What the link of this window shows. */
export async function askLink(signal: AbortSignal): Promise<LinkAnswer> {
  const headers = { Authorization: `Bearer ${OPENED?.token ?? ''}` };
  const response = await fetchByLink('/shared/api/link', { headers, signal });
  if (response.ok) return (await response.json()) as LinkAnswer;
  throw await problemOf(response);
}

/** Whether the service answers, be it with an error. The question needs no session. */
export const isAnswering = (signal: AbortSignal): Promise<boolean> =>
  fetch(`${BASE}/api/sign-in`, { method: 'HEAD', cache: 'no-store', credentials: 'omit', signal }).then(
    ({ status }) => status < 500,
    () => false,
  );

/** Asks the console's own API. Rejects with ApiError; with a TypeError if the service cannot be reached. */
export async function ask<R extends Route>(
  route: R,
  { params, body, signal }: Asked<R> = {},
): Promise<Answer<R>> {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent((params as Readonly<Record<string, string>> | undefined)?.[name] ?? ''),
  );
  const response = await fetchBySession(`${BASE}/api${path}`, {
    method,
    signal: signal ?? null,
    ...(body === undefined
      ? {}
      : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (response.ok) return (await response.json()) as Answer<R>;
  throw await problemOf(response);
}

async function problemOf(response: Response): Promise<ApiError> {
  const problem = await response.json().catch(() => ({}));
  const retryAfterSeconds = Number(response.headers.get('Retry-After')) || null;
  return new ApiError(response.status, problem, { retryAfterSeconds, rateLimit: null });
}
