import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import type { Plan } from '../plan.ts';
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
  /** Types whose distinct sessions are counted. */
  readonly paired: string;
}

export const PAGES: KeyGroup = {
  kinds: `'page'`,
  types: `'pageview', 'engagement'`,
  kind: `'page'`,
  key: 'path',
  paired: `type = 'pageview'`,
};

export const LABELS: KeyGroup = {
  kinds: `'error', 'click', 'custom'`,
  types: `'error', 'click', 'custom'`,
  kind: 'toString(type)',
  key: 'label',
  paired: `type = 'error'`,
};

/**
 * Rows (kind, key, events, sessions, engaged_ms, engagements) whose sums by kind and key are exact for the plan's
 * range. `sessions`, of pages and errors, are distinct sessions with at least one event of the key in the range. `since` comes
 * from `lookBack`.
 */
export const keyRows = (app: AppId, plan: Plan, group: KeyGroup, since: number): string =>
  unionAll(
    [
      isEmpty(plan.sealed) ? null : sealedRows(app, plan, group),
      revisited(app, plan, group),
      edgeRows(app, plan, group),
      plan.tail && tailRows(app, plan.tail, since, group),
    ],
    '',
  );

const sealedRows = (app: AppId, plan: Plan, { kinds }: KeyGroup): string => `
SELECT toString(kind) AS kind, key, toInt64(f.events) AS events, toInt64(first_sessions) AS sessions, f.engaged_ms AS engaged_ms,
    f.engagements AS engagements
FROM event_facts AS f
WHERE ${ofApp(app)} AND f.kind IN (${kinds}) AND ${inGrains([plan])}`;

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
export async function lookBack(
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
