import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import { asTheyAre, type Facts } from '../ask.ts';
import { isWide, type Plan, plan } from '../plan.ts';
import {
  anyOf,
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
import { byText, descending } from './order.ts';
import { Ranked, type Ranking } from './ranked.ts';

/**
 * What events can be about: a page by its path (with the engagement on it); or the label of an error (its message), of a
 * click (its target) or of a custom event (its name).
 */
export interface KeyGroup {
  readonly kinds: string;
  readonly types: string;
  /** Of a raw event; a low-cardinality column as it is stands in the way of nothing. */
  readonly kind: string;
  readonly key: string;
  /** What the answer calls `key`: a label can be absent, a path cannot. */
  readonly name: string;
  /** Types whose distinct sessions are counted. */
  readonly paired: string;
}

export const PAGES: KeyGroup = {
  kinds: `'page'`,
  types: `'pageview', 'engagement'`,
  kind: `'page'`,
  key: 'path',
  name: 'key',
  paired: `type = 'pageview'`,
};

export const LABELS: KeyGroup = {
  kinds: `'error', 'click', 'custom'`,
  types: `'error', 'click', 'custom'`,
  kind: 'toString(type)',
  key: 'label',
  name: "if(key = '', '(none)', key)",
  paired: `type = 'error'`,
};

/** What is summed up by key, of `events`, `sessions`, `engaged_ms` and `engagements`; answers are ordered by the first. */
export type Measures = readonly [string, ...string[]];

const ROW = z.tuple([z.string(), z.string()], z.number());
/** Kind, name, and the sum of each measure. */
export type KeyRow = z.infer<typeof ROW>;

const MEASURED: Ranking<KeyRow> = {
  keyOf: ([kind, name]) => `${kind} ${name}`,
  add: (a, b) => [a[0], a[1], ...sumsOf(a).map((sum, i) => sum + (sumsOf(b)[i] ?? 0))],
  order: (a, b) => descending(a[2] ?? 0, b[2] ?? 0) || byText(a[1], b[1]) || byText(a[0], b[0]),
};

const sumsOf = ([, , ...sums]: KeyRow): number[] => sums;

/**
 * The range's keys by name, largest first measure first, then by name. `sessions`, of pages and errors, are distinct sessions with at least
 * one event of the key in the range. A key may be there for another measure than one that is 0.
 */
export async function keySums(
  db: Database,
  facts: Facts,
  app: AppId,
  range: Range,
  group: KeyGroup,
  measures: Measures,
): Promise<Iterable<KeyRow>> {
  const pieces = plan(range, facts.until);
  const [sealed, edges, tail] = await Promise.all([
    sealedSums(db, facts, app, pieces, group, measures),
    edgeSums(db, facts, app, pieces, group, measures),
    tailSums(db, app, pieces, group, measures),
  ]);
  return sealed.with([...edges, ...tail]);
}

async function sealedSums(
  db: Database,
  facts: Facts,
  app: AppId,
  pieces: Plan,
  { kinds, name }: KeyGroup,
  measures: Measures,
): Promise<Ranked<KeyRow>> {
  if (isEmpty(pieces.sealed)) return new Ranked<KeyRow>([], MEASURED);
  const sums = measures.map((each) => `toInt64(sum(f.${SEALED_NAMES[each] ?? each})) AS ${each}`);
  const query = {
    name: 'sealed keys',
    sql: `SELECT toString(kind) AS kind, ${name} AS name, ${sums.join(', ')} FROM event_facts AS f
WHERE ${ofApp(app)} AND f.kind IN (${kinds}) AND ${inGrains([pieces])}
GROUP BY kind, name ORDER BY ${measures[0]} DESC, name, kind`,
    row: ROW,
  };
  return facts.recall(
    query,
    () => db.rows(query, { parallel: isWide(pieces) }),
    (rows) => new Ranked(rows, MEASURED),
  );
}

const SEALED_NAMES: Readonly<Record<string, string>> = { sessions: 'first_sessions' };

/** What the sealed hours' sums do not hold of the sealed part. */
async function edgeSums(
  db: Database,
  facts: Facts,
  app: AppId,
  pieces: Plan,
  group: KeyGroup,
  measures: Measures,
): Promise<readonly KeyRow[]> {
  const rows = unionAll([revisited(app, pieces, group), edgeRows(app, pieces, group)], '');
  if (rows === '') return [];
  const query = { name: 'key edges', sql: addedUp(rows, group, measures), row: ROW };
  return facts.recall(query, () => db.rows(query, { parallel: true }), asTheyAre, 'when repeated');
}

async function tailSums(
  db: Database,
  app: AppId,
  pieces: Plan,
  group: KeyGroup,
  measures: Measures,
): Promise<KeyRow[]> {
  const { tail } = pieces;
  if (tail === null) return [];
  const rows = tailRows(app, tail, await lookBack(db, app, pieces, group), group);
  return db.rows({ name: 'key tail', sql: addedUp(rows, group, measures), row: ROW }, { parallel: true });
}

/** Of rows (kind, key, events, sessions, engaged_ms, engagements). */
const addedUp = (rows: string, { name }: KeyGroup, measures: Measures): string => `
SELECT toString(kind) AS kind, toString(${name}) AS name, ${measures.map((each) => `sum(r.${each}) AS ${each}`).join(', ')}
FROM (${rows}) AS r GROUP BY kind, name`;

/**
 * Pairs met again in a sealed hour count where they had not met within the range before: as a session lasts 24 h, only
 * those of the first day can have met before the range. Pairs of the right edge that had met within the range before
 * are taken off again: the sealed hour that it cuts knows them.
 */
function revisited(app: AppId, plan: Plan, { kinds }: KeyGroup): string | null {
  const { start, end } = plan.sealed;
  const from = int(plan.range.from);
  const again: string[] = [];
  if (start < end) {
    const span = { start, end: Math.min(end, plan.range.from + DAY_MS) };
    again.push(`${inSpans('v.hour', [span])} AND prev_at < ${from}`);
  }
  if (plan.right !== null) {
    again.push(
      `v.hour = ${bucket(plan.right.from)} AND first_at <= ${int(plan.right.to)} AND prev_at >= ${from}`,
    );
  }
  if (again.length === 0) return null;
  return `
SELECT toString(kind) AS kind, key, toInt64(0) AS events, if(prev_at < ${from}, toInt64(1), toInt64(-1)) AS sessions,
    toUInt64(0) AS engaged_ms, toUInt64(0) AS engagements
FROM revisits AS v
WHERE ${ofApp(app)} AND v.kind IN (${kinds}) AND ${anyOf(again)}`;
}

/** Raw rows of the ragged ends, each less than an hour: a pair counts once in each. */
function edgeRows(app: AppId, plan: Plan, group: KeyGroup): string | null {
  const edges = edgeRanges(plan);
  if (edges.length === 0) return null;
  const side = plan.right === null ? '0' : `timestamp >= ${instant(plan.right.from)}`;
  return rawRows(app, edges, group, `uniqExactIf((session_id, started_at, ${side}), ${group.paired})`);
}

const rawRows = (app: AppId, ranges: readonly Range[], group: KeyGroup, pairs: string): string => `
SELECT ${group.kind} AS kind, ${group.key} AS key, toInt64(countIf(type != 'engagement')) AS events,
    toInt64(${pairs}) AS sessions, sum(duration_ms) AS engaged_ms, countIf(type = 'engagement') AS engagements
FROM events
WHERE ${ofApp(app)} AND type IN (${group.types}) AND ${eventsIn(ranges)}
GROUP BY kind, key`;

/** Unsealed rows, and off again the pairs that had met within the range before. */
const tailRows = (app: AppId, tail: Range, since: number, group: KeyGroup): string =>
  unionAll(
    [
      rawRows(app, [tail], group, `uniqExactIf((session_id, started_at), ${group.paired})`),
      since > 0 && since < tail.from ? metBefore(app, tail, since, group) : null,
    ],
    '',
  );

/** Sessions that began before the tail and go on in it. */
const goingOn = (app: AppId, tail: Range, paired: string): string =>
  `FROM events WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([tail])} AND started_at < ${instant(tail.from)}`;

const FIRST_START = z.object({ ms: z.number() });

/**
 * When the first session of those that go on in the tail began, to the hour: 24 h before it at most, mostly less than one. The
 * tail's own start where there is none.
 */
async function lookBack(
  db: Database,
  app: AppId,
  { range, tail }: Plan,
  { paired }: KeyGroup,
): Promise<number> {
  if (tail === null || range.from >= tail.from) return 0;
  const { ms } = await db.queryOne({
    name: 'sessions that go on',
    sql: `SELECT toUnixTimestamp64Milli(coalesce(minOrNull(started_at), ${instant(tail.from)})) AS ms ${goingOn(app, tail, paired)}`,
    row: FIRST_START,
  });
  return Math.max(range.from, ms);
}

/** Of the sessions that go on in the tail: their pairs that met on both sides of its start. */
function metBefore(app: AppId, tail: Range, since: number, { kind, key, paired }: KeyGroup): string {
  const start = instant(tail.from);
  const around = { from: epochMs(since), to: tail.to };
  return `
SELECT kind, key, toInt64(0) AS events, -toInt64(count()) AS sessions, toUInt64(0) AS engaged_ms, toUInt64(0) AS engagements
FROM
(
    SELECT ${kind} AS kind, ${key} AS key
    FROM events
    WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([around])} AND started_at < ${start}
        AND (session_id, started_at) IN (SELECT session_id, started_at ${goingOn(app, tail, paired)})
    GROUP BY kind, key, session_id, started_at
    HAVING min(timestamp) < ${start} AND max(timestamp) >= ${start}
)
GROUP BY kind, key`;
}
