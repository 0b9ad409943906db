import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import {
  DAY_MS,
  type EpochMs,
  epochMs,
  floorTo,
  HOUR_MS,
  type Range,
  utcDayStart,
} from '../../domain/time.ts';
import type { Facts, SessionFacts } from '../ask.ts';
import { startedIn } from '../late.ts';
import { plan, rangeOf, type Span, spanOf } from '../plan.ts';
import { edgeRanges, inMs, inSpans, int, isEmpty } from '../sql.ts';
import { cutHours, fromHoursOr } from './cut-hours.ts';
import { returnsOfHour, sessionsOfHour, totalsOf } from './session-hours.ts';
import { tailByDay } from './visitors.ts';

const SESSIONS_ROW = z.object({ day: z.number(), sessions: z.number(), visitors: z.number() });

/**
 * Counts sessions and visitors by UTC day. Sums answer whole sealed days; session facts answer a day that the
 * range or the watermark divides; raw rows answer the tail.
 */
export async function sessionsByDay(db: Database, facts: SessionFacts, range: Range) {
  const end = range.to + 1;
  const sealedEnd = Math.max(Math.min(end, facts.until), range.from);
  const firstDay = Math.min(Math.ceil(range.from / DAY_MS) * DAY_MS, sealedEnd);
  const lastDay = Math.max(floorTo(sealedEnd, DAY_MS), firstDay);
  const days = { start: firstDay, end: lastDay };
  const cut = [
    { start: range.from, end: firstDay },
    { start: lastDay, end: sealedEnd },
  ].filter((span) => !isEmpty(span));
  const [whole, cutDays, tail, late] = await Promise.all([
    isEmpty(days) ? [] : wholeDays(db, facts, days),
    cut.length === 0 ? [] : cutDaysOf(db, facts, cut, range.from),
    sealedEnd < end ? tailByDay(db, facts, { from: epochMs(sealedEnd), to: range.to }, range.from) : [],
    lateDays(facts, { start: range.from, end: sealedEnd }),
  ]);
  return [...whole, ...cutDays, ...tail, ...late];
}

/**
 * Corrections to the sealed days of the span. A visitor counts at the first session of the day within the
 * span.
 */
async function lateDays(facts: SessionFacts, span: Span) {
  const { sessions, links } = await facts.late();
  const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
  return [
    ...startedIn(sessions, span).map(({ sign, startedAt }) => ({
      day: dayOf(startedAt),
      sessions: sign as number,
      visitors: 0,
    })),
    ...startedIn(links, span)
      .filter(({ startedAt, prev }) => prev < Math.max(floorTo(startedAt, DAY_MS), span.start))
      .map(({ sign, startedAt }) => ({ day: dayOf(startedAt), sessions: 0, visitors: sign as number })),
  ];
}

function cutDaysOf(db: Database, facts: Facts, cut: readonly Span[], from: EpochMs) {
  const query = {
    name: 'growth cut days',
    sql: `SELECT intDiv(started_at, 86400000) AS day, count() AS sessions,
    countIf(prev < greatest(day * 86400000, ${int(from)})) AS visitors
FROM session_facts WHERE ${facts.where} AND ${inMs('started_at', cut)}
GROUP BY day`,
    row: SESSIONS_ROW,
  };
  const load = fromHoursOr(
    () => cutDaysOfHours(db, facts, cut, from),
    () => db.query(query),
  );
  return facts.recall(query, load, 'when repeated');
}

/**
 * Answers divided days from whole hours, which stay the same while `from` moves within its hour, and from the
 * cached hours that contain the edges.
 */
async function cutDaysOfHours(db: Database, facts: Facts, cut: readonly Span[], from: EpochMs) {
  const days = cut.map(rangeOf).map((range) => {
    const pieces = plan(range, facts.until);
    const dayStart = utcDayStart(range.from);
    return {
      day: dayStart / DAY_MS,
      /** A visitor counts at the first session of the day from here on. */
      since: Math.max(dayStart, from),
      hours: pieces.sealed,
      edges: edgeRanges(pieces).map(spanOf),
    };
  });
  const edges = days.flatMap(({ day, since, edges: own }) => own.map((part) => ({ ...part, day, since })));
  const firstHour = { start: from, end: Math.ceil(from / HOUR_MS) * HOUR_MS };
  const [cutEdges, returns] = await Promise.all([
    cutHours(db, facts, edges, sessionsOfHour(facts)),
    isEmpty(firstHour) ? [] : cutHours(db, facts, [firstHour], returnsOfHour(facts)),
  ]);
  if (cutEdges === null || returns === null) return null;
  const whole = days.filter(({ hours }) => !isEmpty(hours));
  const query = {
    name: 'growth cut hours',
    sql: `SELECT intDiv(started_at, 86400000) AS day, count() AS sessions,
    countIf(prev < greatest(day * 86400000, ${int(firstHour.end)})) AS visitors
FROM session_facts WHERE ${facts.where} AND ${inMs(
      'started_at',
      whole.map(({ hours }) => hours),
    )}
GROUP BY day`,
    row: SESSIONS_ROW,
  };
  const rows = whole.length === 0 ? [] : await facts.recall(query, () => db.query(query));
  // Visitors with a session in the range's first hour are already counted on its first day.
  const again = whole
    .filter(({ since }) => since === from)
    .flatMap(({ day, hours }) =>
      returns.flatMap(({ part, hour }) =>
        hour.map(({ pairs }) => ({
          day,
          sessions: 0,
          visitors: pairs.countIn(part, hours.start) - pairs.countIn(part, hours.end),
        })),
      ),
    );
  const cutRows = cutEdges.map(({ part, hour }) => {
    const { sessions, visitors } = totalsOf(hour, part, part.since);
    return { day: part.day, sessions, visitors };
  });
  return [...rows, ...again, ...cutRows];
}

function wholeDays(db: Database, facts: Facts, days: Span) {
  const query = {
    name: 'growth sums',
    sql: `SELECT intDiv(toUnixTimestamp(bucket), 86400) AS day, sessions, day_visitors AS visitors FROM session_sums
WHERE ${facts.where} AND grain = 2 AND ${inSpans('bucket', [days])}`,
    row: SESSIONS_ROW,
  };
  return facts.recall(query, () => db.query(query));
}
