import { inEachHour } from '../clickhouse/literals.ts';
import { number, rowOf, text } from '../clickhouse/row.ts';
import { sql } from '../clickhouse/sql.ts';
import { epochMs } from '../domain/time.ts';
import { hourOf, isHeld, type LateSession } from '../facts/late.ts';
import type { LateHour } from '../facts/late-hours.ts';
import { sessionColumns } from '../facts/session-columns.ts';
import { rowsFromEvents } from '../facts/session-rows.ts';
import type { SessionFacts } from './ask.ts';
import { mergedFor, SESSION_PART, type Single, type SingleSession, sessionSql } from './singles.ts';
import { ofApp } from './sql.ts';

/** Limit of sessions that one statement names. */
const MOST_NAMED = 500;

/**
 * Returns the sealed sessions with late events: each once as the facts count it, to be subtracted, and once
 * as it is now. They are kept until another event comes late in their hour.
 */
export async function lateVersions(facts: SessionFacts, single: Single): Promise<readonly SingleSession[]> {
  const hours = new Map(facts.lateHours.map((late) => [late.hour, late]));
  const byKey = new Map<string, { session: LateSession; late: LateHour }>();
  for (const session of facts.lateSessions) {
    const late = hours.get(hourOf(session.startedAt));
    if (late !== undefined)
      byKey.set(`${session.startedAt} ${session.id} ${late.committed}`, { session, late });
  }
  if (byKey.size === 0) return [];
  const found = await facts.cache.recallEach(
    `late ${facts.app} ${single.name}`,
    [...byKey.keys()],
    async (unknown) => {
      const read = new Map<string, readonly SingleSession[]>();
      for (let at = 0; at < unknown.length; at += MOST_NAMED) {
        const keys = unknown.slice(at, at + MOST_NAMED);
        const versions = await readVersions(
          facts,
          single,
          keys.flatMap((key) => byKey.get(key) ?? []),
        );
        for (const key of keys) {
          const session = byKey.get(key)?.session;
          read.set(key, versions.get(`${session?.startedAt} ${session?.id}`) ?? []);
        }
      }
      return read;
    },
    (versions) => versions.length * (5 + single.columns.length),
  );
  return [...byKey.keys()].flatMap((key) => found.get(key) ?? []);
}

const VERSION = rowOf([number, text, number, text, SESSION_PART]);

async function readVersions(
  { db, app }: SessionFacts,
  single: Single,
  asked: readonly { readonly session: LateSession; readonly late: LateHour }[],
): Promise<ReadonlyMap<string, readonly SingleSession[]>> {
  const ranges = asked.map(({ session: { startedAt }, late }) => ({
    from: epochMs(startedAt),
    to: epochMs(Math.max(startedAt, late.lastEvent)),
  }));
  const where = sql`${ofApp(app)} AND ${inEachHour(ranges)} AND session_id IN {ids:Array(String)}
        AND (toUnixTimestamp64Milli(started_at), session_id) IN arrayZip({starts:Array(Int64)}, {ids:Array(String)})`;
  const columns = mergedFor([single]);
  const isOfFacts = isHeld('session', [...new Set(asked.map(({ late }) => late))]);
  const rows = await db.rows(
    {
      name: `late sessions, ${single.name}`,
      sql: sql`SELECT started, session_id, sign, ${sessionSql([single])}
FROM
(
    SELECT toUnixTimestamp64Milli(s.started_at) AS started, s.session_id AS session_id, sign, ${sessionColumns(columns)}
    FROM ${rowsFromEvents(where, columns, sql`, session_id, ${isOfFacts} AS is_held`)} AS s
    ARRAY JOIN if(s.is_held, [-1, 1], [1]) AS sign
    GROUP BY s.started_at, s.session_id, sign
)`,
      row: VERSION,
    },
    {},
    { ids: asked.map(({ session }) => session.id), starts: asked.map(({ session }) => session.startedAt) },
  );
  const found = new Map<string, SingleSession[]>();
  for (const [startedAt, id, sign, visitor, [keys, values]] of rows) {
    const key = `${startedAt} ${id}`;
    const version = { sign: sign < 0 ? -1 : 1, startedAt, visitor, keys, values } as const;
    const own = found.get(key);
    if (own === undefined) found.set(key, [version]);
    else own.push(version);
  }
  return found;
}
