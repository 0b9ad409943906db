import { epochMs } from '../../domain/time.ts';
import { mergedSessions, VISITOR_HASH } from '../merged-sessions.ts';
import { type Plan, planReturns, type Span } from '../plan.ts';
import { anyOf, type Bindings, isEmpty, unionAll } from '../sql.ts';

/** The part of a plan's range that session facts answer, ragged ends included. */
export const sealedPart = (plan: Plan): Span => {
  const start = plan.range.from;
  const end = plan.tail === null ? plan.range.to + 1 : plan.tail.from;
  return start < end ? { start, end } : { start: 0, end: 0 };
};

/**
 * Rows (at, n): how many sealed sessions have an earlier one of their visitor in the same range, for ranges that do not
 * overlap; `at`, epoch ms, lies in the range that the row belongs to. Distinct visitors are the sessions less these.
 * Those that start in the ragged end of a range are left to `edgeFacts`.
 */
export function returningSessions(bind: Bindings, plans: readonly Plan[]): string | null {
  const pairs: string[] = [];
  const byPrev: string[] = [];
  for (const plan of plans) {
    const { start, end } = sealedPart(plan);
    const pieces = planReturns(start, end);
    const { days, hours, prevHours, prevEdge } = pieces;
    if (!isEmpty(days)) {
      pairs.push(`grain = 'day' AND ${bind.inSpans('a', [days])} AND b >= ${bind.bucket(days.start)}`);
    }
    if (!isEmpty(hours)) {
      pairs.push(
        `grain = 'hour_by_start' AND ${bind.inSpans('a', [hours])} AND b >= ${bind.bucket(pieces.hoursFrom)}`,
      );
    }
    if (!isEmpty(prevHours)) {
      pairs.push(
        `grain = 'hour_by_prev' AND ${bind.inSpans('a', [prevHours])} AND b < ${bind.bucket(pieces.returnsBefore)}`,
      );
    }
    if (!isEmpty(prevEdge)) {
      byPrev.push(`${bind.inMs('prev', [prevEdge])} AND started_at < ${bind.int(pieces.end)}`);
    }
  }
  const rows = [
    pairs.length === 0
      ? null
      : `SELECT toUnixTimestamp(a) * 1000 AS at, toInt64(p.sessions) AS n FROM return_pairs AS p WHERE app_id = {app:UUID} AND ${anyOf(pairs)}`,
    byPrev.length === 0
      ? null
      : `SELECT prev AS at, toInt64(1) AS n FROM session_returns WHERE app_id = {app:UUID} AND ${anyOf(byPrev)}`,
  ];
  return unionAll(rows, '') || null;
}

/**
 * Rows (at, returning, first) of the sealed sessions in ragged ends: returning have an earlier one of their visitor in
 * the range (where that is not yet counted by `returningSessions`), first have none at all.
 */
export function edgeFacts(bind: Bindings, plans: readonly Plan[]): string | null {
  const returning: string[] = [];
  const spans: Span[] = [];
  for (const plan of plans) {
    const { start, end } = sealedPart(plan);
    const { startEdge, edgeFrom } = planReturns(start, end);
    if (!isEmpty(startEdge)) {
      returning.push(`${bind.inMs('started_at', [startEdge])} AND prev >= ${bind.int(edgeFrom)}`);
    }
    for (const edge of [plan.left, plan.right]) {
      if (edge !== null) spans.push({ start: edge.from, end: edge.to + 1 });
    }
  }
  if (spans.length === 0) return null;
  return `SELECT started_at AS at, toInt64(${anyOf(returning)}) AS returning, toInt64(prev = -1) AS first
FROM session_facts WHERE app_id = {app:UUID} AND ${bind.inMs('started_at', spans)}`;
}

/**
 * One row (known, in_range): of the tail's distinct visitors, how many came before it at all, and how many came before it
 * in the range. Between the watermark and a range that begins after it, raw rows know.
 */
export function tailReturns(bind: Bindings, plan: Plan): string {
  if (plan.tail === null) return 'SELECT 0 AS known, 0 AS in_range';
  const { watermark, tail, range } = plan;
  const visitors = `SELECT ${VISITOR_HASH} FROM (${mergedSessions(bind, [tail], ['visitor_id'])})`;
  const sealed = `SELECT visitor, started_at AS at FROM session_facts
    WHERE app_id = {app:UUID} AND started_at < ${bind.int(watermark)} AND visitor IN (${visitors})`;
  const between =
    watermark < tail.from
      ? `SELECT ${VISITOR_HASH} AS visitor, toUnixTimestamp64Milli(started_at) AS at
    FROM (${mergedSessions(bind, [{ from: watermark, to: epochMs(tail.from - 1) }], ['visitor_id'])})
    WHERE visitor IN (${visitors})`
      : null;
  return `SELECT count() AS known, countIf(last >= ${bind.int(range.from)}) AS in_range
FROM (SELECT max(at) AS last FROM (${unionAll([sealed, between], '')}) GROUP BY visitor)`;
}
