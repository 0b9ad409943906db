import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, type Range } from '../../domain/time.ts';
import type { Facts } from '../ask.ts';
import type { Plan } from '../plan.ts';
import {
  anyOf,
  BY_DAY,
  bucket,
  edgeRanges,
  eventsIn,
  inGrains,
  inSpans,
  instant,
  int,
  isEmpty,
  ofApp,
  unionAll,
} from '../sql.ts';

/*
 * Rows (kind, key, events, sessions, engaged_ms, engagements) of the pieces of a plan: their sums by kind and key are exact for its
 * range. Null where a plan has no such piece.
 */

/**
 * What events can be about: a page by its path (with the engagement on it); or the label of an error (its message), of a
 * click (its target) or of a custom event (its name).
 */
export interface KeyGroup {
  readonly kinds: readonly string[];
  readonly types: string;
  /** Of a raw event; a low-cardinality column as it is stands in the way of nothing. */
  readonly kind: string;
  readonly key: string;
  /** What the answer calls `key`: a label can be absent, a path cannot. */
  readonly name: string;
  /** Which events have their distinct sessions counted. */
  readonly paired: string | null;
}

export const PAGES: KeyGroup = {
  kinds: ['page'],
  types: `'pageview', 'engagement'`,
  kind: `'page'`,
  key: 'path',
  name: 'key',
  paired: `type = 'pageview'`,
};

const OF_PAGES = `type IN (${PAGES.types})`;

/** Pages without their sessions: less to be read. */
export const TIMES: KeyGroup = { ...PAGES, paired: null };

/** Pages, errors, clicks and custom events at once: one statement for all takes less than one for each. */
export const EVERYTHING: KeyGroup = {
  kinds: ['page', 'error', 'click', 'custom'],
  types: `${PAGES.types}, 'error', 'click', 'custom'`,
  kind: `if(${OF_PAGES}, 'page', toString(type))`,
  key: `if(${OF_PAGES}, path, label)`,
  name: "if(key = '', '(none)', key)",
  paired: `type IN ('pageview', 'error')`,
};

/**
 * The sealed hours, as if nothing had been before them. Pairs met again in a sealed hour count where they had not met within these
 * hours before: as a session lasts 24 h, only those of the first day can have met before them.
 */
export function sealedRows(facts: Facts, pieces: Plan, { kinds, paired }: KeyGroup): string | null {
  if (isEmpty(pieces.sealed)) return null;
  const { start, end } = pieces.sealed;
  const firstDay = { start, end: Math.min(end, start + DAY_MS) };
  const metAgain = `${inSpans('v.hour', [firstDay])} AND prev_at < ${int(start)}`;
  const labels = kinds.filter((kind) => kind !== 'page');
  return unionAll(
    [
      kinds.includes('page') ? pageSums(facts, pieces) : null,
      labels.length === 0 ? null : labelSums(facts, pieces, labels),
      paired === null ? null : revisitsWhere(facts, kinds, '1', [metAgain]),
    ],
    '',
  );
}

const pageSums = (facts: Facts, pieces: Plan): string => `
SELECT 'page' AS kind, key, toInt64(f.events) AS events, toInt64(f.events - f.repeats) AS sessions, f.engaged_ms AS engaged_ms,
    f.engagements AS engagements
FROM page_facts AS f
WHERE ${facts.where} AND ${inGrains([pieces], BY_DAY)}`;

const labelSums = (facts: Facts, pieces: Plan, kinds: readonly string[]): string => `
SELECT toString(kind) AS kind, key, toInt64(f.events) AS events, toInt64(f.events - f.repeats) AS sessions, toUInt64(0) AS engaged_ms,
    toUInt64(0) AS engagements
FROM label_facts AS f
WHERE ${facts.where} AND f.kind IN (${texts(kinds)}) AND ${inGrains([pieces])}`;

/**
 * Taken off again: pairs of the sealed hours that had met in the first edge, and pairs of the last one that had met within the range
 * before, as the sealed hour that it cuts knows.
 */
function revisitedAtEnds(
  facts: Facts,
  { range, left, sealed, right }: Plan,
  { kinds, paired }: KeyGroup,
): string | null {
  if (paired === null) return null;
  const again: string[] = [];
  if (left !== null && !isEmpty(sealed)) {
    const firstDay = { start: sealed.start, end: Math.min(sealed.end, sealed.start + DAY_MS) };
    again.push(
      `${inSpans('v.hour', [firstDay])} AND prev_at >= ${int(range.from)} AND prev_at < ${int(sealed.start)}`,
    );
  }
  if (right !== null) {
    again.push(
      `v.hour = ${bucket(right.from)} AND first_at <= ${int(right.to)} AND prev_at >= ${int(range.from)}`,
    );
  }
  return again.length === 0 ? null : revisitsWhere(facts, kinds, '-1', again);
}

/** Words of ours as SQL. */
const texts = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ');

const revisitsWhere = (
  facts: Facts,
  kinds: readonly string[],
  sessions: string,
  conditions: readonly string[],
): string => `
SELECT toString(kind) AS kind, key, toInt64(0) AS events, toInt64(${sessions}) AS sessions, toUInt64(0) AS engaged_ms,
    toUInt64(0) AS engagements
FROM revisits AS v
WHERE ${facts.where} AND v.kind IN (${texts(kinds)}) AND ${anyOf(conditions)}`;

/** What the ragged ends change and add. */
export const edgeRows = (facts: Facts, pieces: Plan, group: KeyGroup): string | null =>
  unionAll([revisitedAtEnds(facts, pieces, group), rawEdges(facts.app, pieces, group)], '') || null;

/** Raw rows of the ragged ends, each less than an hour: a pair counts once in each. */
function rawEdges(app: AppId, plan: Plan, group: KeyGroup): string | null {
  const edges = edgeRanges(plan);
  if (edges.length === 0) return null;
  const side = plan.right === null ? '0' : `timestamp >= ${instant(plan.right.from)}`;
  return rawRows(app, edges, group, `session_id, started_at, ${side}`);
}

/** A pair counts once for each value of `session`. */
const rawRows = (app: AppId, ranges: readonly Range[], group: KeyGroup, session: string): string => `
SELECT ${group.kind} AS kind, ${group.key} AS key, toInt64(countIf(type != 'engagement')) AS events,
    toInt64(${group.paired === null ? '0' : `uniqExactIf((${session}), ${group.paired})`}) AS sessions, sum(duration_ms) AS engaged_ms, countIf(type = 'engagement') AS engagements
FROM events
WHERE ${ofApp(app)} AND type IN (${group.types}) AND ${eventsIn(ranges)}
GROUP BY kind, key`;

/** Unsealed rows, as if nothing had been before them. */
export const tailRows = (app: AppId, { tail }: Plan, group: KeyGroup): string | null =>
  tail && rawRows(app, [tail], group, 'session_id, started_at');
