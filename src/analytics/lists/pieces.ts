import { anyOf, bucket, inSpans, instant, int, ofApp } from '../../clickhouse/literals.ts';
import { join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, HOUR_MS, type Range } from '../../domain/time.ts';
import { isHeld } from '../../facts/late.ts';
import type { Facts, PageFacts } from '../input/app-facts.ts';
import type { Plan } from '../range/plan.ts';
import { BY_DAY, edgeRanges, eventsIn, inGrains, isEmpty, unionAll } from '../range/sql.ts';

/*
 * SQL of rows (kind, key, events, sessions, engagedMs, engagements) for the pieces of a plan. Null if the plan
 * has no such piece.
 */

/**
 * A group of keys: pages by their path (with engagement), or labels: the message of an error, the target of a
 * click, the name of a custom event.
 */
export interface KeyGroup {
  readonly kinds: readonly string[];
  readonly types: Sql;
  /** SQL for a raw event. Grouping by a plain LowCardinality column is faster than by an expression. */
  readonly kind: Sql;
  readonly key: Sql;
  /** SQL of the name in the answer: a label can be absent, a path cannot. */
  readonly name: Sql;
  /** SQL condition on the events whose distinct sessions are counted; null for none. */
  readonly paired: Sql | null;
}

export const PAGES: KeyGroup = {
  kinds: ['page'],
  types: sql`'pageview', 'engagement'`,
  kind: sql`'page'`,
  key: sql`path`,
  name: sql`key`,
  paired: sql`type = 'pageview'`,
};

const OF_PAGES = sql`type IN (${PAGES.types})`;

/** Pages without their sessions: reads less. */
export const TIMES: KeyGroup = { ...PAGES, paired: null };

/** SQL condition on the events of pairs whose distinct sessions are counted. */
const PAIRED = sql`type IN ('pageview', 'error')`;

/** Pages, errors, clicks and custom events together: one statement is faster than four. */
export const EVERYTHING: KeyGroup = {
  kinds: ['page', 'error', 'click', 'custom'],
  types: sql`${PAGES.types}, 'error', 'click', 'custom'`,
  kind: sql`if(${OF_PAGES}, 'page', toString(type))`,
  key: sql`if(${OF_PAGES}, path, label)`,
  name: sql`if(key = '', '(none)', key)`,
  paired: PAIRED,
};

/** The sums of a key: its events, the distinct sessions of these, and the engagement with a page. */
export type KeySum = 'events' | 'sessions' | 'engagedMs' | 'engagements';

/** Returns the key of a pair, which begins with the kind. A kind contains no space. */
export const nameOf = (pair: string): string => pair.slice(pair.indexOf(' ') + 1);

/**
 * Rows of the sealed hours, counted as if nothing had occurred before them. A pair that occurred earlier in its
 * session (`revisits`) still counts if it did so before these hours. A session lasts at most 24 h, so only
 * revisits of the first day can do so.
 */
export function sealedRows(facts: Facts, pieces: Plan, { kinds, paired }: KeyGroup): Sql | null {
  if (isEmpty(pieces.sealed)) return null;
  const { start, end } = pieces.sealed;
  const firstDay = { start, end: Math.min(end, start + DAY_MS) };
  const metAgain = sql`${inSpans(sql`v.hour`, [firstDay])} AND prev_at < ${int(start)}`;
  const labels = kinds.filter((kind) => kind !== 'page');
  return unionAll(
    [
      kinds.includes('page') ? pageSums(facts, pieces) : null,
      labels.length === 0 ? null : labelSums(facts, pieces, labels),
      paired === null ? null : revisitsWhere(facts, kinds, sql`1`, [metAgain]),
    ],
    sql``,
  );
}

const pageSums = (facts: Facts, pieces: Plan): Sql => sql`
SELECT 'page' AS kind, key, toInt64(f.events) AS events, toInt64(f.events - f.repeats) AS sessions, f.engaged_ms AS engagedMs,
    f.engagements AS engagements
FROM page_facts AS f
WHERE ${facts.where} AND ${inGrains([pieces], BY_DAY)}`;

const labelSums = (facts: Facts, pieces: Plan, kinds: readonly string[]): Sql => sql`
SELECT toString(kind) AS kind, key, toInt64(f.events) AS events, toInt64(f.events - f.repeats) AS sessions, toUInt64(0) AS engagedMs,
    toUInt64(0) AS engagements
FROM label_facts AS f
WHERE ${facts.where} AND f.kind IN (${texts(kinds)}) AND ${inGrains([pieces])}`;

/**
 * Subtracts pairs that a session counts twice: pairs of the sealed hours that occurred in the left edge, and
 * pairs of the right edge that occurred in the range before its hour, as the facts of that hour tell.
 */
function revisitedAtEnds(
  facts: Facts,
  { range, left, sealed, right }: Plan,
  { kinds, paired }: KeyGroup,
): Sql | null {
  if (paired === null) return null;
  const again: Sql[] = [];
  if (left !== null && !isEmpty(sealed)) {
    const firstDay = { start: sealed.start, end: Math.min(sealed.end, sealed.start + DAY_MS) };
    again.push(
      sql`${inSpans(sql`v.hour`, [firstDay])} AND prev_at >= ${int(range.from)} AND prev_at < ${int(sealed.start)}`,
    );
  }
  if (right !== null) {
    again.push(
      sql`v.hour = ${bucket(right.from)} AND first_at <= ${int(right.to)} AND prev_at >= ${int(range.from)}`,
    );
  }
  return again.length === 0 ? null : revisitsWhere(facts, kinds, sql`-1`, again);
}

/** Quotes words of this file. */
const texts = (words: readonly string[]): Sql => join(words.map(quoted));

/** SQL of the sums of a row that changes sessions alone. */
const onlySessions = (sessions: Sql): Sql =>
  sql`toInt64(0) AS events, toInt64(${sessions}) AS sessions, toUInt64(0) AS engagedMs, toUInt64(0) AS engagements`;

const revisitsWhere = (
  facts: Facts,
  kinds: readonly string[],
  sessions: Sql,
  conditions: readonly Sql[],
): Sql => sql`
SELECT toString(kind) AS kind, key, ${onlySessions(sessions)}
FROM revisits AS v
WHERE ${facts.where} AND v.kind IN (${texts(kinds)}) AND ${anyOf(conditions)}`;

/** Rows of the edges, and the subtractions that they cause. */
export const edgeRows = (facts: PageFacts, pieces: Plan, group: KeyGroup): Sql | null =>
  unionAll([revisitedAtEnds(facts, pieces, group), rawEdges(facts, pieces, group)], sql``) || null;

/** Raw rows of the edges that the facts hold. A session counts once for each of its pairs in each edge. */
function rawEdges(facts: PageFacts, plan: Plan, group: KeyGroup): Sql | null {
  const edges = edgeRanges(plan);
  if (edges.length === 0) return null;
  const side = plan.right === null ? sql`0` : sql`timestamp >= ${instant(plan.right.from)}`;
  return rawRows(
    group,
    sql`(session, started_at, ${side})`,
    sql`${ofApp(facts.app)} AND type IN (${group.types}) AND ${eventsIn(edges)} AND ${heldBy(facts, edges)}`,
  );
}

/** Rows of the events of matching sessions, which fulfil `where`. */
export const matchingRows = (where: Sql, group: KeyGroup): Sql =>
  rawRows(group, sql`(started_at, session)`, sql`${where} AND type IN (${group.types})`);

/** Rows of raw events: `session` counts once for each of its pairs. */
const rawRows = ({ kind, key, paired }: KeyGroup, session: Sql, where: Sql): Sql => sql`
SELECT ${kind} AS kind, ${key} AS key, toInt64(countIf(type != 'engagement')) AS events,
    toInt64(${paired === null ? sql`0` : sql`uniqExactIf(${session}, ${paired})`}) AS sessions, sum(duration_ms) AS engagedMs, countIf(type = 'engagement') AS engagements
FROM events
WHERE ${where}
GROUP BY kind, key`;

/** SQL condition on raw events before the watermark, in these ranges: the facts hold them. */
export const heldBy = ({ lateHours, heldUntil }: PageFacts, ranges: readonly Range[]): Sql =>
  isHeld(
    'page',
    lateHours.filter(({ hour }) => ranges.some(({ from, to }) => hour + HOUR_MS > from && hour <= to)),
    heldUntil,
  );
