import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { inEachHour } from '../clickhouse/literals.ts';
import { epochMs } from '../domain/time.ts';
import { hourOf, isHeld, type LateSession } from '../facts/late.ts';
import { rowsFromEvents } from '../facts/session-rows.ts';
import type { LateHour } from '../facts/watermarks.ts';
import type { Facts } from './ask.ts';
import {
  type LateCampaigns,
  type LateSessions,
  type Link,
  NO_CAMPAIGNS,
  NONE_LATE,
  type SessionRow,
  type SignedSession,
  TooManyLate,
} from './late.ts';
import { mergedColumns } from './merged-sessions.ts';
import type { Span } from './plan.ts';
import { LISTED_WORDS, WORD_COLUMNS } from './questions/dimensions.ts';
import { NAME } from './questions/last-visits.ts';
import { SESSION_VALUES, SUM_COLUMNS } from './questions/session-hours.ts';
import { inMs, int, inUInt128, ofApp, uInt128s } from './sql.ts';

/*
 * Corrections to session facts for sessions with late events. Sums and lists are corrected by whole sessions:
 * minus the session as the facts hold it, plus the session as it is now. Visitors are corrected by links:
 * when a session changes, so may its own link and that of the visitor's next session.
 */

interface LateVisit {
  readonly startedAt: number;
  readonly held: SessionRow | null;
  readonly now: SessionRow;
}

export async function readLateSessions(
  db: Database,
  facts: Facts,
  late: readonly LateSession[],
  hours: readonly LateHour[],
): Promise<LateSessions> {
  if (late.length === 0) return NONE_LATE;
  const visits = await lateVisits(db, facts, late, hours);
  const rows = visits.flatMap(({ startedAt, held, now }): SignedSession[] => [
    ...(held === null ? [] : [{ ...held, sign: -1 as const, startedAt }]),
    { ...now, sign: 1, startedAt },
  ]);
  const visitors = [...new Set(rows.map(({ visitor }) => visitor))];
  const starts = await startsOf(db, facts, visitors);
  const relinked = relink(
    rows,
    ({ visitor }) => visitor,
    (visitor) => starts.get(visitor) ?? [],
  );
  return {
    sessions: rows,
    links: relinked.flatMap(({ changes }) => changes),
    visits: new Map(relinked.map(({ key, now }) => [key, now])),
    campaigns: () => lateCampaigns(db, facts, rows),
  };
}

async function lateCampaigns(
  db: Database,
  facts: Facts,
  rows: readonly SignedSession[],
): Promise<LateCampaigns> {
  const tagged = rows.filter(({ campaign: [source] }) => source !== '');
  if (tagged.length === 0) return NO_CAMPAIGNS;
  const starts = await campaignStartsOf(db, facts, [...new Set(tagged.map(({ visitor }) => visitor))]);
  const keyOf = ({ visitor, campaign }: SessionRow): string => visitor + JSON.stringify(campaign);
  const campaigns = new Map(tagged.map((row) => [keyOf(row), row.campaign]));
  const relinked = relink(tagged, keyOf, (key) => starts(key));
  return {
    links: relinked.flatMap(({ key, changes }) =>
      changes.map((link) => ({ ...link, campaign: campaigns.get(key) ?? [] })),
    ),
    visits: new Map(relinked.map(({ key, now }) => [key, now])),
  };
}

interface Relinked {
  readonly key: string;
  readonly now: readonly number[];
  readonly changes: readonly Link[];
}

/**
 * Returns, for each key, the starts of its sessions as they are now, and the links that appear or disappear.
 */
function relink(
  rows: readonly SignedSession[],
  keyOf: (row: SignedSession) => string,
  startsOfKey: (key: string) => readonly number[],
): Relinked[] {
  const byKey = new Map<string, SignedSession[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const own = byKey.get(key);
    if (own === undefined) byKey.set(key, [row]);
    else own.push(row);
  }
  return [...byKey].map(([key, own]) => {
    const before = startsOfKey(key).toSorted((a, b) => a - b);
    const now = [...before];
    for (const { sign, startedAt } of own.toSorted((a, b) => a.sign - b.sign)) {
      if (sign === 1) now.push(startedAt);
      else if (now.includes(startedAt)) now.splice(now.indexOf(startedAt), 1);
    }
    now.sort((a, b) => a - b);
    return { key, now, changes: changedLinks(before, now) };
  });
}

function changedLinks(before: readonly number[], now: readonly number[]): Link[] {
  const counts = new Map<string, number>();
  const count = (starts: readonly number[], sign: 1 | -1): void => {
    for (const [i, startedAt] of starts.entries()) {
      const link = `${startedAt} ${starts[i - 1] ?? -1}`;
      counts.set(link, (counts.get(link) ?? 0) + sign);
    }
  };
  count(before, -1);
  count(now, 1);
  return [...counts].flatMap(([link, times]): Link[] => {
    const [startedAt = 0, prev = -1] = link.split(' ').map(Number);
    const sign = times < 0 ? -1 : 1;
    return Array.from({ length: Math.abs(times) }, () => ({ sign, startedAt, prev }));
  });
}

/** Limit of values in the text of a statement. */
const MOST_LISTED = 2_000;

/**
 * SQL of the sealed sessions in the span, one row (visitor, started_at) each, in the place of
 * `visitor_sessions`: it has the corrected starts of visitors with late sessions.
 */
export function visitsIn(facts: Facts, { visits }: LateSessions, span: Span): string {
  const sealed = `SELECT visitor, started_at FROM visitor_sessions WHERE ${facts.where} AND ${inMs('started_at', [span])}`;
  if (visits.size === 0) return sealed;
  const listed = [...visits].flatMap(([visitor, starts]) =>
    starts
      .filter((start) => start >= span.start && start < span.end)
      .map((start) => [visitor, start] as const),
  );
  if (listed.length > MOST_LISTED || visits.size > MOST_LISTED) throw new TooManyLate();
  const others = `${sealed} AND NOT (${inUInt128('visitor', [...visits.keys()])})`;
  if (listed.length === 0) return others;
  return `${others}
    UNION ALL SELECT row.1 AS visitor, row.2 AS started_at FROM (SELECT arrayJoin(arrayZip(${uInt128s(listed.map(([visitor]) => visitor))},
        [${listed.map(([, start]) => `toInt64(${int(start)})`).join(', ')}])) AS row)`;
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

const UTM_COLUMNS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;
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
async function lateVisits(
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

/** Limit of sessions of one visitor. */
const MOST_VISITS = 10_000;

function notTooMany(starts: readonly number[]): readonly number[] {
  if (starts.length > MOST_VISITS) throw new TooManyLate();
  return starts;
}

const STARTS = z.tuple([z.string(), z.array(z.number())]);

/** Reads the starts of the visitors' sessions from the facts. */
const startsOf = (
  db: Database,
  facts: Facts,
  visitors: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> =>
  facts.recallEach(
    { name: 'sessions of late visitors', sql: ofApp(facts.app) },
    visitors,
    async (unknown) => {
      const rows = await db.rows(
        {
          name: 'sessions of late visitors',
          sql: `SELECT ${NAME}, groupArray(${MOST_VISITS + 1})(started_at) FROM visitor_sessions
WHERE ${facts.where} AND started_at < ${int(facts.until)} AND ${inUInt128('visitor', unknown)} GROUP BY visitor`,
          row: STARTS,
        },
        { searches: true },
      );
      const found = new Map<string, readonly number[]>(unknown.map((visitor) => [visitor, []]));
      for (const [visitor, starts] of rows) found.set(visitor, notTooMany(starts));
      return found;
    },
  );

const CAMPAIGN_STARTS = z.tuple([z.string(), z.array(z.string()), z.array(z.number())]);

async function campaignStartsOf(
  db: Database,
  facts: Facts,
  visitors: readonly string[],
): Promise<(key: string) => readonly number[]> {
  const found = await facts.recallEach(
    { name: 'campaigns of late visitors', sql: ofApp(facts.app) },
    visitors,
    async (unknown) => {
      const rows = await db.rows(
        {
          name: 'campaigns of late visitors',
          sql: `SELECT ${NAME}, [${UTM_COLUMNS.join(', ')}] AS campaign, groupArray(${MOST_VISITS + 1})(started_at) FROM utm_facts
WHERE ${facts.where} AND started_at < ${int(facts.until)} AND ${inUInt128('visitor', unknown)} GROUP BY visitor, campaign`,
          row: CAMPAIGN_STARTS,
        },
        { searches: true },
      );
      const own = new Map<string, (readonly [string, readonly number[]])[]>(
        unknown.map((visitor) => [visitor, []]),
      );
      for (const [visitor, campaign, starts] of rows)
        own.get(visitor)?.push([visitor + JSON.stringify(campaign), notTooMany(starts)]);
      return own;
    },
  );
  const starts = new Map(
    visitors.flatMap((visitor) => (found.get(visitor) ?? []) as (readonly [string, readonly number[]])[]),
  );
  return (key) => starts.get(key) ?? [];
}
