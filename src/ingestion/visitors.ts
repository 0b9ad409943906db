import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { type Clock, isoDay } from '../domain/time.ts';

const SALT_BYTES = 32;

const SALT: Query<{ salt: string }> = {
  name: 'ingestion: salt of the day',
  sql: sql`SELECT salt FROM ingest_salts WHERE day = {day:Date} LIMIT 1`,
  row: z.object({ salt: z.string() }),
};

/**
 * A day ends within 24 hours, and a deletion within one: no salt lives for 48 hours. By the store's clock alone, because a
 * process whose clock is ahead must not delete a salt that others use.
 */
const IS_OLD = sql`created_at <= now64(3) - INTERVAL 46 HOUR`;

const OLD_SALTS: Query<{ salts: number }> = {
  name: 'ingestion: old salts',
  sql: sql`SELECT toUInt32(count()) AS salts FROM ingest_salts WHERE ${IS_OLD}`,
  row: z.object({ salts: z.number() }),
};

/** Makes a visitor's id for today from an app, an address and a user agent. */
export type VisitorIds = (app: AppId, address: string, userAgent: string) => string;

export interface Visitors {
  /** Returns the function for the current UTC day. It is the same in every process on the store. */
  today(): Promise<VisitorIds>;
  /** Deletes salts before they are 48 hours old, if it is called every hour. Their ids can no longer be derived. */
  forget(): Promise<void>;
}

/**
 * Derives ids for visitors without one: a keyed hash under a salt that lives less than two days. A visitor is
 * recognised within a day and an app, but not across days or apps. Once the salt is gone, an address cannot
 * be found by trying all addresses. Neither address nor salt is stored with the id.
 */
export function createVisitors({ db, clock }: { readonly db: Database; readonly clock: Clock }): Visitors {
  let current: { readonly day: string; readonly ids: VisitorIds } | null = null;
  return {
    async today() {
      const day = isoDay(clock());
      if (current?.day !== day) {
        const salt = (await db.query(SALT, { day }))[0]?.salt ?? (await introduce(db, day));
        current = { day, ids: idsUnder(salt) };
      }
      return current.ids;
    },
    async forget() {
      if (current?.day !== isoDay(clock())) current = null;
      if ((await db.queryOne(OLD_SALTS)).salts === 0) return;
      const statement = sql`ALTER TABLE ingest_salts DELETE WHERE ${IS_OLD}`;
      await db.command('ingestion: forget salts', statement, {}, { lane: 'seal' });
    },
  };
}

/**
 * Stores a salt for the day. Several processes may try; the first one's token wins. If a day's salt was lost
 * because the store's clock was set forward, its token is left, and the next token is taken.
 */
async function introduce(db: Database, day: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES).toString('base64');
  for (let life = 0; ; life++) {
    await db.insert('ingest_salts', [{ day, salt }], { token: `salt ${day} ${life}` });
    const [stands] = await db.query(SALT, { day });
    if (stands !== undefined) return stands.salt;
  }
}

function idsUnder(salt: string): VisitorIds {
  return (app, address, userAgent) =>
    `anon-${createHmac('sha256', salt).update(`${app}\n${address}\n${userAgent}`).digest('hex').slice(0, 32)}`;
}
