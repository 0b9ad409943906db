import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { inEachHour } from '../clickhouse/literals.ts';
import { epochMs } from '../domain/time.ts';
import { hourOf, isHeld, type LateSession } from '../facts/late.ts';
import { rowsFromEvents } from '../facts/session-rows.ts';
import type { LateHour } from '../facts/watermarks.ts';
import type { Facts } from './ask.ts';
import type { SessionRow } from './late.ts';
import { mergedColumns } from './merged-sessions.ts';
import { LISTED_WORDS, UTM_COLUMNS, WORD_COLUMNS } from './questions/dimensions.ts';
import { NAME } from './questions/last-visits.ts';
import { SESSION_VALUES, SUM_COLUMNS } from './questions/session-hours.ts';
import { ofApp } from './sql.ts';

/** A session with late events. */
interface LateVisit {
  /** Epoch ms. */
  readonly startedAt: number;
  /** The session as the facts hold it; null if they hold nothing of it. */
  readonly held: SessionRow | null;
  readonly now: SessionRow;
}

const VISIT = z.object({
  started: z.number(),
  session_id: z.string(),
  version: z.number(),
  name: z.string(),
  ...SESSION_VALUES,
  words: z.array(z.string()),
  place: z.string(),
  campaign: z.array(z.string()),
});

const COLUMNS = [
  'visitor',
  ...SUM_COLUMNS,
  'place',
  ...WORD_COLUMNS,
  ...UTM_COLUMNS.filter((column) => column !== 'utm_source'),
] as const;

/** Limit of sessions that one statement names. */
const MOST_NAMED = 500;

/** Returns each of the sessions as the facts hold it, and as it is now. */
export async function lateVisits(
  db: Database,
  facts: Facts,
  late: readonly LateSession[],
  hours: readonly LateHour[],
): Promise<readonly LateVisit[]> {
  const byHour = new Map(hours.map((own) => [own.hour, own]));
  const hourOfSession = ({ startedAt }: LateSession) => byHour.get(hourOf(startedAt));
  const byKey = new Map(
    late.map((session) => [
      `${session.startedAt} ${session.id} ${hourOfSession(session)?.committed}`,
      session,
    ]),
  );
  const query = { name: 'late visits', sql: ofApp(facts.app) };
  const found = await facts.recallEach(query, [...byKey.keys()], async (unknown) => {
    const read = new Map<string, readonly LateVisit[]>(unknown.map((key) => [key, []]));
    for (let at = 0; at < unknown.length; at += MOST_NAMED) {
      const keys = unknown.slice(at, at + MOST_NAMED);
      const sessions = keys.flatMap((key) => byKey.get(key) ?? []);
      const own = new Set(sessions.flatMap((session) => hourOfSession(session) ?? []));
      const visits = await readVisits(db, facts, sessions, [...own]);
      for (const key of keys) {
        const session = byKey.get(key);
        read.set(
          key,
          visits.filter((visit) => visit.startedAt === session?.startedAt && visit.id === session.id),
        );
      }
    }
    return read;
  });
  return [...byKey.keys()].flatMap((key) => found.get(key) ?? []);
}

async function readVisits(
  db: Database,
  facts: Facts,
  sessions: readonly LateSession[],
  hours: readonly LateHour[],
): Promise<readonly (LateVisit & LateSession)[]> {
  const lastOf = new Map(hours.map(({ hour, lastEvent }) => [hour, lastEvent]));
  const ranges = sessions.map(({ startedAt }) => ({
    from: epochMs(startedAt),
    to: epochMs(Math.max(startedAt, lastOf.get(hourOf(startedAt)) ?? startedAt)),
  }));
  const where = `${ofApp(facts.app)} AND ${inEachHour(ranges)} AND session_id IN {ids:Array(String)}
        AND (toUnixTimestamp64Milli(started_at), session_id) IN arrayZip({starts:Array(Int64)}, {ids:Array(String)})`;
  const query: Query<z.infer<typeof VISIT>> = {
    name: 'late visits',
    sql: `SELECT started, session_id, version, ${NAME} AS name, ${SUM_COLUMNS.join(', ')}, ${LISTED_WORDS} AS words, place,
    [${UTM_COLUMNS.join(', ')}] AS campaign
FROM
(
    SELECT toUnixTimestamp64Milli(s.started_at) AS started, s.session_id AS session_id, version, ${mergedColumns(COLUMNS)}
    FROM ${rowsFromEvents(where, `, session_id, ${isHeld('session', hours)} AS is_held`)} AS s
    ARRAY JOIN if(s.is_held, [0, 1], [1]) AS version
    GROUP BY s.started_at, s.session_id, version
)`,
    row: VISIT,
  };
  const params = { ids: sessions.map(({ id }) => id), starts: sessions.map(({ startedAt }) => startedAt) };
  const found = new Map<string, { held: SessionRow | null; now: SessionRow } & LateSession>();
  const rows = await db.query(query, params);
  for (const { started, session_id: id, version, name, ...row } of rows.sort(
    (a, b) => b.version - a.version,
  )) {
    const as = { ...row, visitor: name };
    const key = `${started} ${id}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { startedAt: started, id, held: null, now: as });
    else known.held = as;
  }
  return [...found.values()];
}
