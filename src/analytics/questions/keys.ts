import { DAY_MS, type Range } from '../../domain/time.ts';
import type { Plan } from '../plan.ts';
import { anyOf, type Bindings, isEmpty, unionAll } from '../sql.ts';

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
 * range. `sessions`, of pages and errors, are distinct sessions with at least one event of the key in the range.
 */
export const keyRows = (bind: Bindings, plan: Plan, group: KeyGroup): string =>
  unionAll(
    [
      isEmpty(plan.sealed) ? null : sealedRows(bind, plan, group),
      revisited(bind, plan, group),
      edgeRows(bind, plan, group),
      plan.tail && tailRows(bind, plan, plan.tail, group),
    ],
    '',
  );

const sealedRows = (bind: Bindings, plan: Plan, { kinds }: KeyGroup): string => `
SELECT toString(kind) AS kind, key, toInt64(f.events) AS events, toInt64(first_sessions) AS sessions, f.engaged_ms AS engaged_ms,
    f.engagements AS engagements
FROM event_facts AS f
WHERE app_id = {app:UUID} AND f.kind IN (${kinds}) AND ${bind.inGrains([plan])}`;

/**
 * Pairs met again in a sealed hour count where they had not met within the range before: as a session lasts 24 h, only
 * those of the first day can have met before the range. Pairs of the right edge that had met within the range before
 * are taken off again: the sealed hour that it cuts knows them.
 */
function revisited(bind: Bindings, plan: Plan, { kinds }: KeyGroup): string | null {
  const { start, end } = plan.sealed;
  const from = bind.int(plan.range.from);
  const again: string[] = [];
  if (start < end) {
    const span = { start, end: Math.min(end, plan.range.from + DAY_MS) };
    again.push(`${bind.inSpans('v.hour', [span])} AND prev_at < ${from}`);
  }
  if (plan.right !== null) {
    again.push(
      `v.hour = ${bind.bucket(plan.right.from)} AND first_at <= ${bind.int(plan.right.to)} AND prev_at >= ${from}`,
    );
  }
  if (again.length === 0) return null;
  return `
SELECT toString(kind) AS kind, key, toInt64(0) AS events, if(prev_at < ${from}, toInt64(1), toInt64(-1)) AS sessions,
    toUInt64(0) AS engaged_ms, toUInt64(0) AS engagements
FROM revisits AS v
WHERE app_id = {app:UUID} AND v.kind IN (${kinds}) AND ${anyOf(again)}`;
}

/** Raw rows of the ragged ends, each less than an hour: a pair counts once in each. */
function edgeRows(bind: Bindings, { left, right }: Plan, group: KeyGroup): string | null {
  const edges = [left, right].filter((edge) => edge !== null);
  if (edges.length === 0) return null;
  const pairs = edges.map(
    (edge) =>
      `uniqExactIf((session_id, started_at), ${group.paired} AND ${bind.inRanges('timestamp', [edge])})`,
  );
  return rawRows(bind, edges, group, pairs.join(' + '));
}

const rawRows = (bind: Bindings, ranges: readonly Range[], group: KeyGroup, pairs: string): string => `
SELECT ${group.kind} AS kind, ${group.key} AS key, toInt64(countIf(type != 'engagement')) AS events,
    toInt64(${pairs}) AS sessions, sum(duration_ms) AS engaged_ms, countIf(type = 'engagement') AS engagements
FROM events
WHERE app_id = {app:UUID} AND type IN (${group.types}) AND ${bind.inRanges('timestamp', ranges)}
GROUP BY kind, key`;

/**
 * Unsealed rows. A pair counts where its first meeting in the range lies in the tail; sessions that began before it
 * are looked up among the raw rows of up to 24 h before.
 */
function tailRows(bind: Bindings, plan: Plan, tail: Range, group: KeyGroup): string {
  const lookBackFrom = Math.max(plan.range.from, tail.from - DAY_MS);
  if (lookBackFrom >= tail.from) {
    return rawRows(bind, [tail], group, `uniqExactIf((session_id, started_at), ${group.paired})`);
  }
  const start = bind.instant(tail.from);
  const end = bind.instant(tail.to);
  return `
SELECT kind, key, toInt64(sum(n_events)) AS events, toInt64(countIf(first_at >= ${start} AND paired)) AS sessions,
    sum(n_engaged_ms) AS engaged_ms, sum(n_engagements) AS engagements
FROM
(
    SELECT ${group.kind} AS kind, ${group.key} AS key,
        ${group.paired} AS paired, if(paired, session_id, '') AS session, if(paired, started_at, toDateTime64(0, 3, 'UTC')) AS started,
        countIf(type != 'engagement' AND timestamp >= ${start}) AS n_events,
        sumIf(duration_ms, timestamp >= ${start}) AS n_engaged_ms,
        countIf(type = 'engagement' AND timestamp >= ${start}) AS n_engagements,
        min(timestamp) AS first_at
    FROM events
    WHERE app_id = {app:UUID} AND type IN (${group.types}) AND timestamp <= ${end}
        AND (timestamp >= ${start}
            OR timestamp >= ${bind.instant(lookBackFrom)} AND ${group.paired}
                AND (session_id, started_at) IN (
                    SELECT session_id, started_at FROM events
                    WHERE app_id = {app:UUID} AND timestamp >= ${start} AND timestamp <= ${end} AND started_at < ${start}))
    GROUP BY kind, key, paired, session, started
)
GROUP BY kind, key`;
}
