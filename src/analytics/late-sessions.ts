import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import type { LateSession } from '../facts/late.ts';
import type { LateHour } from '../facts/watermarks.ts';
import type { Facts } from './ask.ts';
import {
  type LateCampaigns,
  type LateSessions,
  NO_CAMPAIGNS,
  NONE_LATE,
  type SessionRow,
  type SignedSession,
  TooManyLate,
} from './late.ts';
import { relink } from './late-links.ts';
import { lateVisits } from './late-visits.ts';
import type { Span } from './plan.ts';
import { UTM_COLUMNS } from './questions/dimensions.ts';
import { NAME, visitOf } from './questions/last-visits.ts';
import { inMs, int, inUInt128, ofApp, uInt128s } from './sql.ts';

/*
 * Corrections to session facts for sessions with late events. Sums and lists are corrected by whole sessions:
 * minus the session as the facts hold it, plus the session as it is now. Visitors are corrected by links:
 * when a session changes, so may its own link and that of the visitor's next session.
 */

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
  const keyOf = ({ visitor, campaign }: SessionRow): string => visitOf(visitor, campaign);
  const campaigns = new Map(tagged.map((row) => [keyOf(row), row.campaign]));
  const relinked = relink(tagged, keyOf, (key) => starts(key));
  return {
    links: relinked.flatMap(({ key, changes }) =>
      changes.map((link) => ({ ...link, campaign: campaigns.get(key) ?? [] })),
    ),
    visits: new Map(relinked.map(({ key, now }) => [key, now])),
  };
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
        own.get(visitor)?.push([visitOf(visitor, campaign), notTooMany(starts)]);
      return own;
    },
  );
  const starts = new Map(
    visitors.flatMap((visitor) => (found.get(visitor) ?? []) as (readonly [string, readonly number[]])[]),
  );
  return (key) => starts.get(key) ?? [];
}
