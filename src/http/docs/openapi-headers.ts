const integer = (description: string, example: number) => ({
  description,
  schema: { type: 'integer' as const },
  example,
});
const string = (description: string, example: string) => ({
  description,
  schema: { type: 'string' as const },
  example,
});

/** Every header of an answer. */
export const HEADERS = {
  'X-Request-Id': string(
    'Identifies this request in logs. An inbound id of the form `[A-Za-z0-9_-]{1,64}` is kept.',
    '01KAG3V7M0Q8ZJ4T5W6X7Y8Z9A',
  ),
  'X-RateLimit-Limit': integer('Requests that the window grants.', 120),
  'X-RateLimit-Remaining': integer('Requests left in the window.', 117),
  'X-RateLimit-Reset': integer('Whole seconds until the window ends; not an epoch time.', 42),
  'Retry-After': integer('Whole seconds to wait; with 401 only after too many invalid attempts.', 42),
  'WWW-Authenticate': string('The scheme to use.', 'Bearer'),
  ETag: string(
    'Strong; differs between forms and content codings. Send it back as If-None-Match.',
    '"Yr1hZ3m9pQ4cXk2vJ7sT0aB8nLd"',
  ),
  'Cache-Control': string(
    'The caller may cache the answer to a GET, but must revalidate it before each use.',
    'private, max-age=0, must-revalidate',
  ),
  Vary: string('Request headers that the answer depends on.', 'Accept, Accept-Encoding, Authorization'),
  'X-Data-As-Of': string(
    "When the app's newest event was stored; absent if it has none.",
    '2026-11-20T11:59:58.125Z',
  ),
  Age: integer(
    'Seconds for which the answer may have been outdated; only if the request has `Cache-Control: max-stale`.',
    3,
  ),
  'Server-Timing': string(
    'Milliseconds spent on authentication, the rate limit, planning and the store, and the rows read there.',
    'auth;dur=0.12, limit;dur=0.31, plan;dur=0.2, store;dur=4.75;desc="2048 rows read"',
  ),
};
export type HeaderName = keyof typeof HEADERS;

/** Returns references to some of the headers. */
export const headersOf = (...names: readonly HeaderName[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
