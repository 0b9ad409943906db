import { z } from 'zod';
import { ROLES } from '../metadata/members.ts';
import { PLAN_NAMES } from '../metadata/plans.ts';

/* The answers of the management API. A test compares these with the answers of a running service. */

const Uuid = z.string().meta({ override: { format: 'uuid' } });
const Instant = z.string().meta({ override: { format: 'date-time' } });

export const Account = z
  .strictObject({ accountId: Uuid, name: z.string(), plan: z.enum(PLAN_NAMES), createdAt: Instant })
  .meta({ id: 'Account' });

export const Key = z
  .strictObject({
    keyId: Uuid,
    name: z.string().nullable(),
    prefix: z.string().nullable().meta({ description: "The key's first characters." }),
    state: z.enum(['active', 'expired', 'revoked']),
    createdAt: Instant,
    expiresAt: Instant.nullable(),
    revokedAt: Instant.nullable(),
    lastUsedAt: Instant.nullable(),
    replacedBy: Uuid.nullable().meta({ description: 'The key that a rotation made.' }),
  })
  .meta({ id: 'Key' });

export const CreatedKey = z
  .strictObject({ keyId: Uuid, apiKey: z.string().meta({ description: 'Shown only here.' }) })
  .meta({ id: 'CreatedKey' });

export const VisibleApp = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    domain: z.string(),
    access: z.enum(['owner', 'shared']),
    createdAt: Instant,
  })
  .meta({ id: 'VisibleApp' });

export const CreatedApp = VisibleApp.extend({
  access: z.literal('owner'),
  secretKey: z.string().meta({ description: "The credential of the app's SDK. Shown only here." }),
}).meta({ id: 'CreatedApp' });

export const OwnedApp = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    domain: z.string(),
    accountId: Uuid,
    accountName: z.string(),
    createdAt: Instant,
  })
  .meta({ id: 'OwnedApp' });

export const Share = z
  .strictObject({
    appId: Uuid,
    appName: z.string(),
    domain: z.string(),
    ownerId: Uuid,
    ownerName: z.string(),
    accountId: Uuid.meta({ description: 'The account that sees the app.' }),
    accountName: z.string(),
  })
  .meta({ id: 'Share' });

export const Member = z
  .strictObject({ accountId: Uuid, email: z.string(), role: z.enum(ROLES) })
  .meta({ id: 'Member' });

export const AuditEntry = z
  .strictObject({
    accountId: Uuid,
    at: Instant,
    actor: z.string(),
    action: z.string(),
    subject: z.string().meta({ description: 'The id of a key, an app or an account, or an e-mail address.' }),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    outcome: z
      .string()
      .meta({ description: '`done`, the code of an error, or `begun` if the process stopped.' }),
  })
  .meta({ id: 'AuditEntry' });

const Counts = z.record(z.string(), z.int());
export const IngestionState = z
  .strictObject({
    since: Instant.meta({ description: 'When this process began to count.' }),
    acceptedEvents: z.int(),
    duplicateBatches: z.int(),
    rejected: Counts.meta({ description: 'Sessions and events by the reason of their rejection.' }),
    refused: Counts.meta({ description: 'Batches by the reason of their refusal.' }),
    waiting: z.strictObject({ batches: z.int(), events: z.int(), bytes: z.int() }),
    held: z.int().meta({
      description: 'Batches in flushes of which the store refuses a step. It is tried every half minute.',
    }),
  })
  .meta({ id: 'IngestionState' });

export const SetAside = z
  .strictObject({
    id: Uuid,
    appId: Uuid,
    batchId: z.string(),
    events: z.int(),
    code: z.int().meta({ description: "The engine's code for the reason; 0 if it gave none." }),
    setAsideAt: Instant,
  })
  .meta({ id: 'SetAsideBatch' });

const Damaged = {
  table: z.string(),
  part: z.string().meta({ description: 'The name of its folder below `detached`.' }),
  loss: z.string().meta({ description: 'What is lost with it.' }),
};
export const Damage = z
  .strictObject({
    message: z.string().nullable().meta({ description: 'What to do; null if the store is whole.' }),
    parts: z.array(z.strictObject({ ...Damaged, bytes: z.int() })),
  })
  .meta({ id: 'Damage' });
export const Lost = z.strictObject({ lost: z.array(z.strictObject(Damaged)) }).meta({ id: 'AcceptedLoss' });

const Sealed = z.strictObject({ sealedUntil: Instant.nullable(), lagSeconds: z.number() });
export const SealState = z
  .strictObject({
    lagSeconds: z.record(z.string(), z.number()),
    lastRunAt: Instant.nullable(),
    measuredAt: Instant.nullable(),
    apps: z.array(z.object({ appId: Uuid }).catchall(Sealed)),
  })
  .meta({ id: 'SealState' });

export const Imported = z
  .strictObject({
    sessions: z.array(z.int()).meta({ description: 'Indexes of the sessions with stored events.' }),
    events: z.int(),
    duplicates: z.int().meta({ description: 'Events that were stored already.' }),
    rejected: z.array(
      z.strictObject({ session: z.int(), event: z.int().nullable(), code: z.string(), message: z.string() }),
    ),
  })
  .meta({ id: 'ImportResult' });

const begun = { id: Uuid, path: z.string() };
export const BackupUnderway = z
  .strictObject({ ...begun, state: z.literal('running') })
  .meta({ id: 'BackupUnderway' });
export const Backup = z
  .strictObject({
    ...begun,
    state: z.enum(['made', 'failed']),
    error: z.string().nullable().meta({ description: 'What is wrong and what to do; null if it was made.' }),
    madeAt: Instant.meta({ description: 'The state that it holds.' }),
    tables: z.int(),
    rows: z.int(),
    bytes: z.int(),
    seconds: z.number(),
    pauseMs: z.number().meta({ description: 'How long ingestion waited.' }),
  })
  .meta({ id: 'Backup' });
export const LastBackups = z
  .strictObject({ made: Backup.nullable(), failed: Backup.nullable() })
  .meta({ id: 'LastBackups' });

export const ImportedApp = z
  .strictObject({
    appId: Uuid,
    accountId: Uuid,
    name: z.string(),
    domain: z.string(),
    events: z.int(),
    secretKey: z.string().optional().meta({ description: 'Only of a new app; shown only here.' }),
  })
  .meta({ id: 'ImportedApp' });

export const Retention = z
  .strictObject({
    appId: Uuid,
    days: z.int().nullable().meta({ description: 'Null: raw events are kept for ever.' }),
    exactFrom: Instant.nullable().meta({
      description:
        'Single events are there from this instant on. Before it, ranges of events need whole hours. Null: all are there.',
    }),
  })
  .meta({ id: 'Retention' });

export const Exclusions = z
  .strictObject({
    appId: Uuid,
    addresses: z.array(z.string()).meta({ description: 'Ranges, such as 192.0.2.0/24.' }),
  })
  .meta({ id: 'ExcludedAddresses' });

export const SignInLink = z.strictObject({ url: z.string(), expiresAt: Instant }).meta({ id: 'SignInLink' });
