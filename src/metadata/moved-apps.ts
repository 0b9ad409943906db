import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import { type AccountId, type AppId, accountId, appId } from '../domain/ids.ts';
import type { AppRetention } from '../domain/retention.ts';
import type { EpochMs } from '../domain/time.ts';
import { accountLock } from './accounts.ts';
import type { Apps } from './apps.ts';
import { EXCLUSIONS } from './exclusion-rows.ts';
import { hostOf } from './names.ts';
import { RETENTIONS } from './retention-rows.ts';
import { Instant, type MetadataParts } from './rows.ts';
import { SECRETS, type SecretRow } from './secret-rows.ts';

/** An app as it is moved to another store: its secrets go with it, as hashes. */
export interface MovedApp {
  readonly id: AppId;
  readonly account: AccountId;
  readonly name: string;
  readonly domain: string;
  readonly createdAt: EpochMs;
  readonly secrets: readonly Pick<SecretRow, 'hash' | 'createdAt' | 'expiresAt'>[];
  /** Absent: there was never one. */
  readonly retention?: AppRetention;
  /** The addresses whose events it leaves out. Absent: there was never one. */
  readonly excluded?: readonly string[];
}

const MOVED: Query<Omit<MovedApp, 'secrets' | 'retention' | 'excluded'>> = {
  name: 'app to move',
  sql: sql`SELECT toString(app_id) AS id, toString(account_id) AS account, name, domain,
  toUnixTimestamp64Milli(created_at) AS createdAt
FROM apps FINAL WHERE app_id = {app:UUID} AND app_id NOT IN (SELECT app_id FROM deleted_apps)`,
  row: z.object({
    id: z.string().transform(appId),
    account: z.string().transform(accountId),
    name: z.string(),
    domain: z.string(),
    createdAt: Instant,
  }),
};

const TRACES: Query<{ apps: number; deleted: number }> = {
  name: 'app of this id',
  sql: sql`SELECT (SELECT toUInt32(count()) FROM apps WHERE app_id = {app:UUID}) AS apps,
  (SELECT toUInt32(count()) FROM deleted_apps WHERE app_id = {app:UUID}) AS deleted`,
  row: z.object({ apps: z.number(), deleted: z.number() }),
};

export type MovedApps = ReturnType<typeof movedAppsIn>;

/** Moves apps between stores. Their events are moved by src/transfer. */
export function movedAppsIn({ db, locks, nextVersion }: MetadataParts, apps: Apps) {
  /** Throws if no app with this id and domain can be added to the account. */
  const assertFree = async ({ id, account, domain }: Pick<MovedApp, 'id' | 'account' | 'domain'>) => {
    const traces = await db.queryOne(TRACES, { app: id });
    if (traces.deleted > 0) throw taken('An app with this id was deleted from this store.');
    if (traces.apps > 0) throw taken('This store has an app with this id already.');
    await apps.claim(account, hostOf(domain));
  };

  return {
    assertFree,

    /** Returns an app with its secrets. Throws `not_found`. */
    async moved(id: AppId): Promise<MovedApp> {
      const [app] = await db.query(MOVED, { app: id });
      if (app === undefined) throw new AppError('not_found', `There is no app ${id}.`);
      const secrets = await db.query(SECRETS, { apps: [id] });
      const [set] = await db.query(RETENTIONS, { apps: [id] });
      const [exclusions] = await db.query(EXCLUSIONS, { apps: [id] });
      return {
        ...app,
        secrets,
        ...(set && { retention: { days: set.days, acceptedFrom: set.acceptedFrom } }),
        ...(exclusions && { excluded: exclusions.addresses }),
      };
    },

    /**
     * Adds an app that was moved here. From now on it exists. Without secrets it gets a new one, which is returned;
     * otherwise null. Throws like `assertFree`.
     */
    adopt(app: MovedApp): Promise<string | null> {
      return locks.withLock(accountLock(app.account), async (assertHeld) => {
        await assertFree(app);
        const made = app.secrets.length === 0 ? apps.newSecret(app.id) : null;
        const known = app.secrets.map((secret) => ({ ...secret, app: app.id, version: nextVersion() }));
        await apps.add(app, made === null ? known : [made.row], app.retention, assertHeld);
        return made?.secretKey ?? null;
      });
    },
  };
}

const taken = (what: string): AppError =>
  new AppError('validation_failed', what, {
    errors: [{ field: 'file', message: `${what} Import it under a new id, with --as-new (asNew=true).` }],
  });
