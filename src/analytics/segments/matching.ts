import type { Params } from '../../clickhouse/database.ts';
import { inMs, int, ofApp } from '../../clickhouse/literals.ts';
import { number, rowOf } from '../../clickhouse/row.ts';
import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { Segment } from '../../domain/segment.ts';
import { DAY_MS, epochMs, HOUR_MS, hourOf, type Range, storedPart } from '../../domain/time.ts';
import type { SessionColumn } from '../../facts/sql/session-columns.ts';
import type { AppFacts, SessionFacts } from '../input/app-facts.ts';
import { assertKept } from '../input/plan-events.ts';
import { type Pending, pendingSessions } from '../late/pending.ts';
import { eventsIn } from '../range/sql.ts';
import { asksForType, columnsOfSegment, matches, needsEvents, withoutEvents } from './conditions.ts';
import { isFirstPending, isFirstSealed, newcomers } from './newcomers.ts';

/*
 * A segment has no sums to stand on. Its questions count the matching sessions one by one, as they are now: sealed ones in
 * `session_facts`, and pending ones. Distinct visitors are counted as such.
 */

/** A column of sealed and of pending sessions. `visitor_type`: new or returning. */
export type SegmentColumn = Exclude<SessionColumn, 'events'> | 'visitor_type';

/** The sessions that match a segment. */
export interface Matching {
  /**
   * SQL of rows, one for each matching session that started in the range: started_at (Int64, epoch ms), session (UInt64),
   * visitor (UInt128) and `columns`. Throws `beyond_retention` if the range reaches sessions of which too little is kept;
   * `asked`, by default the range, are the adjacent ranges of which the error names the nearest to the last.
   */
  rows(range: Range, columns?: readonly SegmentColumn[], asked?: readonly Range[]): Sql;
  /** SQL of the same rows, of at least those matching sessions that have events in the range. */
  rowsOfEvents(range: Range, columns: readonly SegmentColumn[]): Sql;
  /**
   * SQL condition on raw events: they are events of the app in the range, of matching sessions; `those` of them that fulfil a
   * condition on `started_at` and `duration_ms`. Throws `beyond_retention` if events of the range may have expired.
   */
  isEvent(range: Range, asked?: readonly Range[], those?: Sql): Sql;
  /** SQL of the visitors whose first ever session, matching or not, started in the range: one row each. */
  newcomers(range: Range): Sql;
  readonly params: Params;
}

/**
 * The options of a statement that counts rows of matching sessions. A set of all visitors takes more memory than a list has by
 * default, and groups in files take five times as long.
 */
export const COUNTED = { parallel: true, maxMemoryBytes: 2 * 1024 ** 3 } as const;

/** Finds the sessions that match the segment; without one, all sessions. Throws `TooManyLate`. */
export async function matchingSessions({ sessions, events, extent, segment }: AppFacts): Promise<Matching> {
  const { facts, bareUntil } = await withDetails(sessions);
  const pending = await pendingSessions(facts);
  const own = { facts, pending, segment: segment ?? [] };
  const rows = (
    range: Range,
    columns: readonly SegmentColumn[],
    asked: readonly Range[],
    narrowed: Partial<Own> = {},
  ): Sql => {
    // Sessions from before the range are read, too.
    const earlier = (asked[0]?.from ?? range.from) - range.from;
    assertKept(extent, asked, epochMs(bareUntil === 0 ? 0 : bareUntil + earlier));
    return sessionRows({ ...own, ...narrowed }, range, columns);
  };
  return {
    params: pending.params,
    rows: (range, columns = [], asked = [range]) => {
      if (needsEvents(own.segment)) assertKept(extent, asked, events.horizon);
      return rows(range, columns, asked);
    },
    rowsOfEvents: (range, columns) => {
      assertKept(extent, [range], events.horizon);
      const starts = sql`SELECT e.started_at FROM events AS e WHERE ${ofApp(facts.app)} AND ${eventsIn([range])}`;
      return rows(since24h(range), columns, [range], { starts });
    },
    isEvent: (range, asked = [range], those) => {
      assertKept(extent, asked, events.horizon);
      const all = sql`${ofApp(facts.app)} AND ${eventsIn([range])}`;
      const among = (segment: Segment): Sql =>
        sql`FROM (${rows(since24h(range), ['duration_ms'], asked, { segment })}) WHERE started_at + duration_ms >= ${int(range.from)} AND ${those ?? sql`true`}`;
      const hours =
        those === undefined
          ? sql``
          : sql` AND toStartOfHour(timestamp) IN (SELECT DISTINCT ${HOURS} ${among(withoutEvents(own.segment))})`;
      return sql`${all}${hours} AND (started_at, session) IN (SELECT fromUnixTimestamp64Milli(started_at, 'UTC'), session ${among(own.segment)})`;
    },
    newcomers: (range) => newcomers(facts, pending, storedPart(range)),
  };
}

/** When the sessions of a range's events began: a session lasts at most 24 h. The day before the horizon is kept, too. */
const since24h = ({ from, to }: Range): Range => ({ from: epochMs(from - DAY_MS), to });

/** SQL of the hours of a session, from its start to its last event. */
const HOURS = sql`toStartOfHour(fromUnixTimestamp64Milli(toInt64(arrayJoin(range(toUInt64(intDiv(started_at, ${HOUR_MS})), toUInt64(intDiv(started_at + duration_ms, ${HOUR_MS}) + 1))) * ${HOUR_MS}), 'UTC'))`;

interface Own {
  readonly facts: SessionFacts;
  readonly pending: Pending;
  readonly segment: Segment;
  /** SQL of the only starts that count, rows of a DateTime64. */
  readonly starts?: Sql;
}

const NO_TEXT: ReadonlySet<SegmentColumn> = new Set([
  'duration_ms',
  'pageviews',
  'clicks',
  'errors',
  'bounced',
  'visitor',
  'visitor_type',
]);

/** Texts of pending sessions get the type that those of the facts have, by which the engine groups faster. */
const asInFacts = (column: SegmentColumn): Sql =>
  NO_TEXT.has(column)
    ? identifier(column)
    : sql`toLowCardinality(${identifier(column)}) AS ${identifier(column)}`;

function sessionRows(
  { facts, pending, segment, starts }: Own,
  whole: Range,
  asked: readonly SegmentColumn[],
): Sql {
  const range = storedPart(whole);
  const columns = [...new Set<SegmentColumn>(['visitor', ...asked])];
  const condition = matches(segment, { app: facts.app, range });
  const needed = [...new Set([...columns, ...columnsOfSegment(segment)])].filter(
    (column) => column !== 'visitor_type',
  );
  const isTyped = asksForType(segment) || columns.includes('visitor_type');
  const type = (isFirst: () => Sql): Sql =>
    isTyped ? sql`, if(${isFirst()}, 'new', 'returning') AS visitor_type` : sql``;
  const sealed = { start: range.from, end: Math.min(range.to + 1, facts.until) };
  const isSettled = pending.isLate === null ? sql`` : sql` AND NOT (${pending.isLate})`;
  const startsThen =
    starts === undefined
      ? sql``
      : sql` AND started_at IN (SELECT toUnixTimestamp64Milli(started_at) FROM (${starts}))`;
  const where = sql`${facts.where} AND ${inMs(sql`started_at`, [sealed])}${isSettled}${startsThen}`;
  const typed = sql`SELECT started_at, session, ${join(needed.map(identifier))}${type(() => isFirstSealed(facts, pending, range))} FROM session_facts WHERE ${where}`;
  const now = pending.now(range, needed, starts);
  const parts = [
    sql`SELECT started_at, session, ${join(columns.map(identifier))} FROM ${
      isTyped ? sql`(${typed}) WHERE ${condition}` : sql`session_facts\nWHERE ${where} AND ${condition}`
    }`,
    now &&
      sql`SELECT started_at, session, ${join(columns.map(asInFacts))} FROM (SELECT *${type(() => isFirstPending(facts, pending, range))} FROM (${now})) WHERE ${condition}`,
  ];
  return join(
    parts.filter((part) => part !== null),
    sql`\nUNION ALL\n`,
  );
}

/**
 * Facts that an earlier version wrote have no details (see facts/unseal.ts). Raw rows answer instead of those that can be
 * computed again. Sessions before `bareUntil` have no details for ever.
 */
async function withDetails(
  facts: SessionFacts,
): Promise<{ readonly facts: SessionFacts; readonly bareUntil: number }> {
  const { db, app, cache, where, until, horizon } = facts;
  const query = {
    name: 'sessions without details',
    sql: sql`SELECT max(started_at) FROM session_facts WHERE ${where} AND started_at < ${int(until)} AND session = 0 HAVING count() > 0`,
    row: rowOf([number]),
  };
  // All parts of a question ask at once.
  const [row] = await cache.latest(`bare ${app}`, until, () => db.rows(query));
  if (row === undefined) return { facts, bareUntil: 0 };
  const bareUntil = hourOf(row[0]) + HOUR_MS;
  return bareUntil <= horizon
    ? { facts, bareUntil }
    : { facts: { ...facts, until: horizon, lateHours: [] }, bareUntil: horizon };
}
