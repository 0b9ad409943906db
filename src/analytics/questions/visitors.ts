import { epochMs } from '../../domain/time.ts';
import { mergedSessions, VISITOR_HASH } from '../merged-sessions.ts';
import { type Plan, planReturns, type Span } from '../plan.ts';
import { type Bindings, isEmpty, unionAll } from '../sql.ts';

/** The part of a plan's range that session facts answer, ragged ends included. */
export const sealedPart = (plan: Plan): Span => {
  const start = plan.range.from;
  const end = plan.tail === null ? plan.range.to + 1 : plan.tail.from;
  return start < end ? { start, end } : { start: 0, end: 0 };
};

/**
 * One row (n): how many of the sealed sessions in the range have an earlier one of their visitor in it too. Distinct
 * visitors are the sessions less these.
 */
export function returningSessions(bind: Bindings, plan: Plan): string {
  const { start, end } = sealedPart(plan);
  const pieces = planReturns(start, end);
  const pairs = (condition: string) =>
    `SELECT p.sessions AS n FROM return_pairs AS p WHERE app_id = {app:UUID} AND ${condition}`;
  const rows = unionAll(
    [
      isEmpty(pieces.days)
        ? null
        : pairs(
            `grain = 'day' AND ${bind.inSpans('a', [pieces.days])} AND b >= ${bind.bucket(pieces.days.start)}`,
          ),
      isEmpty(pieces.hours)
        ? null
        : pairs(
            `grain = 'hour_by_start' AND ${bind.inSpans('a', [pieces.hours])} AND b >= ${bind.bucket(pieces.hoursFrom)}`,
          ),
      isEmpty(pieces.prevHours)
        ? null
        : pairs(
            `grain = 'hour_by_prev' AND ${bind.inSpans('a', [pieces.prevHours])} AND b < ${bind.bucket(pieces.returnsBefore)}`,
          ),
      isEmpty(pieces.prevEdge)
        ? null
        : `SELECT count() AS n FROM session_returns WHERE app_id = {app:UUID} AND ${bind.inMs('prev', [pieces.prevEdge])} AND started_at < ${bind.int(pieces.end)}`,
      isEmpty(pieces.startEdge)
        ? null
        : `SELECT count() AS n FROM session_facts WHERE app_id = {app:UUID} AND ${bind.inMs('started_at', [pieces.startEdge])} AND prev >= ${bind.int(pieces.edgeFrom)}`,
    ],
    'SELECT 0 AS n',
  );
  return `SELECT sum(n) AS n FROM (${rows})`;
}

/**
 * One row (known, in_range): of the tail's distinct visitors, how many came before it at all, and how many came before it
 * in the range. Between the watermark and a range that begins after it, raw rows know.
 */
export function tailReturns(bind: Bindings, plan: Plan): string {
  if (plan.tail === null) return 'SELECT 0 AS known, 0 AS in_range';
  const { watermark, tail, range } = plan;
  const visitors = `SELECT ${VISITOR_HASH} FROM (${mergedSessions(bind, [tail])})`;
  const sealed = `SELECT visitor, started_at AS at FROM session_facts
    WHERE app_id = {app:UUID} AND started_at < ${bind.int(watermark)} AND visitor IN (${visitors})`;
  const between =
    watermark < tail.from
      ? `SELECT ${VISITOR_HASH} AS visitor, toUnixTimestamp64Milli(started_at) AS at
    FROM (${mergedSessions(bind, [{ from: watermark, to: epochMs(tail.from - 1) }])})
    WHERE visitor IN (${visitors})`
      : null;
  return `SELECT count() AS known, countIf(last >= ${bind.int(range.from)}) AS in_range
FROM (SELECT max(at) AS last FROM (${unionAll([sealed, between], '')}) GROUP BY visitor)`;
}
