import { z } from 'zod';

/*
 * The answers of the console's own API. Its front end takes their types from here, so nothing of the service may be
 * imported.
 */

const Timestamp = z.string();
const Role = z.enum(['owner', 'viewer']);
const SessionAnswer = z.strictObject({
  account: z.strictObject({ accountId: z.string(), name: z.string(), plan: z.string() }),
  /** Null: an owner without a name, by a link of the operator. */
  email: z.string().nullable(),
  role: Role,
  expiresAt: Timestamp,
  /** Every account that the person may choose. */
  accounts: z.array(z.strictObject({ accountId: z.string(), name: z.string(), role: Role })),
});
const Key = z.strictObject({
  keyId: z.string(),
  name: z.string().nullable(),
  prefix: z.string().nullable(),
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: Timestamp,
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
  replacedBy: z.string().nullable(),
});
const CreatedKey = z.strictObject({ keyId: z.string(), apiKey: z.string() });
const Share = z.strictObject({ accountId: z.string(), accountName: z.string().nullable() });
const Retention = z.strictObject({
  appId: z.string(),
  /** Null: raw events are kept for ever. */
  days: z.int().nullable(),
  /** From here on, they are there; null: everywhere. */
  exactFrom: Timestamp.nullable(),
});
const Exclusions = z.strictObject({ appId: z.string(), addresses: z.array(z.string()).readonly() });
const Link = z.strictObject({
  linkId: z.string(),
  name: z.string(),
  /** Null: all sessions. */
  segment: z.string().nullable(),
  /** The sites that may show it in a frame. */
  origins: z.array(z.string()).readonly(),
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: Timestamp,
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
});
const Member = z.strictObject({ email: z.string(), role: Role });
/** Filters of the analytics under a name. */
const SavedSegment = z.strictObject({ segmentId: z.string(), name: z.string(), segment: z.string() });
const Usage = z.strictObject({
  /** Requests that each key may make in 60 s. */
  requestsPerMinute: z.int(),
  keys: z.array(
    z.strictObject({
      keyId: z.string(),
      name: z.string().nullable(),
      /** The last 24 UTC hours, this one included, oldest first. */
      hours: z.array(z.strictObject({ hour: Timestamp, requests: z.int(), limited: z.int() })).length(24),
    }),
  ),
});
const Audit = z.array(
  z.strictObject({
    accountId: z.string(),
    at: Timestamp,
    actor: z.string(),
    action: z.string(),
    subject: z.string(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    outcome: z.string(),
  }),
);

/** Why a sign-in with the provider failed, as the address of the page of sign-in says it. */
export type SignInProblem = 'no-member' | 'not-confirmed' | 'not-finished' | 'busy' | 'away';

/** The answer to each request, by method and path below /dashboard/api. */
export const ConsoleAnswers = {
  'GET /sign-in': z.strictObject({ oidc: z.boolean() }),
  'POST /sign-in/link': SessionAnswer,
  'POST /sign-out': z.strictObject({ signedOut: z.literal(true) }),
  'GET /session': SessionAnswer,
  'PUT /session/account': SessionAnswer,
  'GET /keys': z.array(Key),
  'POST /keys': CreatedKey,
  'POST /keys/:keyId/rotate': CreatedKey,
  'POST /keys/:keyId/revoke': Key,
  'POST /apps/:appId/rotate-secret': z.strictObject({ secretKey: z.string() }),
  'POST /apps/:appId/delete': z.strictObject({ appId: z.string(), deleted: z.literal(true) }),
  'GET /apps/:appId/retention': Retention,
  'PUT /apps/:appId/retention': Retention,
  'GET /apps/:appId/excluded-addresses': Exclusions,
  'PUT /apps/:appId/excluded-addresses': Exclusions,
  'GET /apps/:appId/shares': z.array(Share),
  'PUT /apps/:appId/shares/:accountId': z.strictObject({
    appId: z.string(),
    accountId: z.string(),
    shared: z.literal(true),
  }),
  'DELETE /apps/:appId/shares/:accountId': z.strictObject({
    appId: z.string(),
    accountId: z.string(),
    shared: z.literal(false),
  }),
  'GET /apps/:appId/links': z.array(Link),
  'POST /apps/:appId/links': Link.extend({ token: z.string() }),
  'PUT /apps/:appId/links/:linkId/origins': Link,
  'POST /apps/:appId/links/:linkId/revoke': Link,
  /** `linkUntil`: until when an unused link signs the member in; null without one. */
  'GET /members': z.array(Member.extend({ linkUntil: Timestamp.nullable() })),
  'POST /members': Member.extend({ token: z.string(), expiresAt: Timestamp }),
  'PUT /members/:email': Member,
  'DELETE /members/:email': z.strictObject({ email: z.string(), removed: z.literal(true) }),
  'GET /segments': z.array(SavedSegment),
  'POST /segments': SavedSegment,
  'PUT /segments/:segmentId': SavedSegment,
  'DELETE /segments/:segmentId': z.strictObject({ segmentId: z.string(), deleted: z.literal(true) }),
  'GET /usage': Usage,
  'GET /audit': Audit,
} as const;
/** What a link shows, for the person who opened it: the answer to `GET /shared/api/link`. */
export const LinkAnswer = z.strictObject({
  appId: z.string(),
  appName: z.string(),
  segment: z.string().nullable(),
  expiresAt: Timestamp.nullable(),
});
export type LinkAnswer = z.infer<typeof LinkAnswer>;
export type ConsoleAnswers = {
  readonly [Route in keyof typeof ConsoleAnswers]: z.infer<(typeof ConsoleAnswers)[Route]>;
};
