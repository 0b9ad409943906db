import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AppId, appId } from '../domain/ids.ts';
import { acceptedFrom } from '../domain/retention.ts';
import { toIso } from '../domain/time.ts';
import { horizonOf } from '../snapshots/horizon.ts';
import { type Apps, appLock } from './apps.ts';
import { RETENTIONS, retentionColumns } from './retention-rows.ts';
import type { MetadataParts } from './rows.ts';

/** For how long a new setting can be taken back before anything is deleted, by the store's clock. */
const SETTLED_HOURS = 1;

const IN_FORCE: Query<{ app: AppId; days: number }> = {
  name: 'retentions in force',
  sql: sql`SELECT toString(app_id) AS app, days FROM app_retention FINAL
WHERE days > 0 AND set_at <= now64(3) - INTERVAL ${SETTLED_HOURS} HOUR AND app_id NOT IN (SELECT app_id FROM deleted_apps)`,
  row: z.object({ app: z.string().transform(appId), days: z.int() }),
};

/** An app's setting, and how far its raw events have expired. */
export interface RetentionOfApp {
  readonly appId: AppId;
  /** Null: raw events are kept for ever. */
  readonly days: number | null;
  /** Events are exact to the millisecond from here on, and by whole hours before; null: everywhere. */
  readonly exactFrom: string | null;
}

export type Retentions = ReturnType<typeof retentionsIn>;

export function retentionsIn({ db, clock, locks, nextVersion }: MetadataParts, apps: Apps) {
  const ofApp = async (app: AppId, days: number | null): Promise<RetentionOfApp> => {
    const at = await horizonOf(db, app);
    return { appId: app, days, exactFrom: at === 0 ? null : toIso(at) };
  };

  return {
    /** Returns the setting of an app. Throws `not_found`. */
    async get(app: AppId): Promise<RetentionOfApp> {
      await apps.get(app);
      const [row] = await db.query(RETENTIONS, { apps: [app] });
      return ofApp(app, row?.days ?? null);
    },

    /** The apps whose events expire, with settings that cannot be taken back any more. */
    inForce: (): Promise<{ app: AppId; days: number }[]> => db.query(IN_FORCE, {}, { lane: 'seal' }),

    /** Sets for how many days raw events are kept; null: for ever. Throws `not_found`. */
    set(app: AppId, days: number | null): Promise<RetentionOfApp> {
      return locks.withLock(appLock(app), async (assertHeld) => {
        await apps.get(app);
        const [before] = await db.query(RETENTIONS, { apps: [app] });
        const row = {
          id: app,
          days,
          acceptedFrom: acceptedFrom(before, clock()),
          version: nextVersion(before?.version),
        };
        await assertHeld();
        try {
          await db.insert('app_retention', [retentionColumns(row)]);
        } finally {
          apps.invalidate(app);
        }
        return ofApp(app, days);
      });
    },
  };
}
