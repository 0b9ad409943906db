import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { Facts, SessionFacts } from '../ask.ts';
import { type SignedSession, startedIn } from '../late.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Plan, sealedPart, spanOf } from '../plan.ts';
import { edgeRanges, HALF_HOURS, hoursPeriodOf, inGrains, inMs, isEmpty, periodOf } from '../sql.ts';
import { cutHours, fromHoursOr } from './cut-hours.ts';
import { areLookedUp, areTooMany, lastVisits, NAMED_VISITORS, NAMES, SESSIONS } from './last-visits.ts';
import type { LiveTail } from './live-tail.ts';
import { sumByPeriod } from './periods.ts';
import {
  addSession,
  NO_SESSIONS,
  SESSION_TOTALS,
  type SessionTotals,
  SUM_COLUMNS,
  SUMS_OF_BUCKET,
  SUMS_OF_SESSIONS,
  sessionsOfHour,
  totalsOf,
} from './session-hours.ts';
import { type Known, prevBeforeIn, returnedAtTheEnd, returningSessions, tailReturns } from './visitors.ts';

interface Wanted {
  readonly newVisitors: boolean;
  /** The cached sessions of the tail, for a single plan. */
  readonly tail?: Promise<LiveTail | null>;
}

/**
 * Returns the totals of each of `plans`, whose ranges are adjacent and in order. Only the last one may want
 * `newVisitors`, which is only correct if it is wanted: it needs all of the app's past. Several small
 * statements run side by side, and their rows are added here: planning a statement costs the engine more than
 * running it, and more the longer it is.
 */
export async function sessionTotals(
  db: Database,
  facts: SessionFacts,
  plans: readonly Plan[],
  want: Wanted,
): Promise<SessionTotals[]> {
  const [sums, edges, returning, tails, late] = await Promise.all([
    sealedSums(db, facts, plans),
    edgeSums(db, facts, plans),
    returningSessions(db, facts, plans),
    Promise.all(plans.map((plan) => tailTotals(db, facts, plan, want))),
    lateTotals(facts, plans),
  ]);
  const parts = [
    ...sums,
    ...edges,
    ...returning,
    ...tails.map((tail, period) => ({ ...tail, period })),
    ...late,
  ];
  return sumByPeriod(plans, NO_SESSIONS, parts);
}

const IN_PERIOD = SESSION_TOTALS.extend({ period: z.number() });

/** Sums of the buckets. Counts each session as a visitor; `returningSessions` subtracts the rest. */
async function sealedSums(db: Database, facts: Facts, plans: readonly Plan[]) {
  if (plans.every(({ sealed }) => isEmpty(sealed))) return [];
  const query = {
    name: 'session sums',
    sql: `SELECT ${hoursPeriodOf('toUnixTimestamp(bucket) * 1000', plans)} AS period, ${SUMS_OF_BUCKET}, sessions AS visitors, new_visitors AS newVisitors
FROM session_sums WHERE ${facts.where} AND ${inGrains(plans, HALF_HOURS)}`,
    row: IN_PERIOD,
  };
  return facts.recallMade(
    query,
    () => db.query(query),
    (rows) =>
      sumByPeriod(plans, NO_SESSIONS, rows).map(
        (totals, period): z.infer<typeof IN_PERIOD> => ({
          ...totals,
          period,
        }),
      ),
  );
}

/**
 * Sums of the edges. Counts each session as a visitor, except in the right edge those in `returnedAtTheEnd`;
 * `returningSessions` subtracts the rest.
 */
async function edgeSums(db: Database, facts: Facts, plans: readonly Plan[]) {
  const edges = plans.flatMap(edgeRanges);
  if (edges.length === 0) return [];
  const query = {
    name: 'session edges',
    sql: `SELECT ${periodOf('started_at', plans)} AS period, ${SUMS_OF_SESSIONS},
    countIf(NOT ${returnedAtTheEnd(plans)}) AS visitors, countIf(prev = -1) AS newVisitors
FROM session_facts AS s WHERE ${facts.where} AND ${inMs('started_at', edges.map(spanOf))}
GROUP BY period`,
    row: IN_PERIOD,
  };
  const load = fromHoursOr(
    () => edgesOfHours(db, facts, plans),
    () => db.query(query),
  );
  return facts.recall(query, load, 'when repeated');
}

async function edgesOfHours(db: Database, facts: Facts, plans: readonly Plan[]) {
  const edges = plans.flatMap((plan, period) =>
    edgeRanges(plan)
      .map(spanOf)
      .map((part) => ({ ...part, period, prevBefore: prevBeforeIn(plan, part) })),
  );
  const cut = await cutHours(db, facts, edges, sessionsOfHour(facts));
  return (
    cut?.map(({ part, hour }) => ({ period: part.period, ...totalsOf(hour, part, part.prevBefore) })) ?? null
  );
}

/** Corrections to the sealed part of each range. A visitor counts at the first session in the range. */
async function lateTotals(facts: SessionFacts, plans: readonly Plan[]): Promise<PartOfPeriod[]> {
  const { sessions, links } = await facts.late();
  return plans.flatMap((plan, period) => {
    const part = sealedPart(plan);
    return [
      changedSums(startedIn(sessions, part), period),
      ...startedIn(links, part).map(({ sign, prev }) => ({
        period,
        visitors: prev < part.start ? sign : 0,
        newVisitors: prev === -1 ? sign : 0,
      })),
    ];
  });
}

function changedSums(sessions: readonly SignedSession[], period: number): PartOfPeriod {
  const totals: Partial<SessionTotals> = {};
  for (const session of sessions) addSession(totals, session, session.sign);
  return { ...totals, period };
}

type PartOfPeriod = Partial<SessionTotals> & { readonly period: number };

const NAMED = SESSION_TOTALS.extend({ names: NAMES });

/** Sums of the tail, without visitors that came before it in the range. */
async function tailTotals(
  db: Database,
  facts: SessionFacts,
  plan: Plan,
  want: Wanted,
): Promise<Partial<SessionTotals>> {
  const { tail, range, watermark } = plan;
  if (tail === null) return {};
  const less = (totals: SessionTotals, { known, inRange }: Known): SessionTotals => ({
    ...totals,
    visitors: totals.visitors - inRange,
    newVisitors: totals.newVisitors - known,
  });
  const ask = <Row>(row: z.ZodType<Row>, more = ''): Promise<Row> =>
    db.queryOne(
      {
        name: 'session tail',
        sql: `SELECT ${SUMS_OF_SESSIONS}, uniqExact(visitor) AS visitors, visitors AS newVisitors${more}
FROM (${mergedSessions(facts, tail, [...SUM_COLUMNS, 'visitor'])}) AS s`,
        row,
      },
      {},
      { parallel: true },
    );
  const counted = () => tailReturns(db, facts, plan, tail, want.newVisitors);
  if (range.from >= watermark || !areLookedUp(facts, SESSIONS)) {
    const [totals, known] = await Promise.all([ask(SESSION_TOTALS), counted()]);
    return less(totals, known);
  }
  const live = await want.tail;
  const { names, ...totals } = live ? liveTotals(live) : await ask(NAMED, `, ${NAMED_VISITORS} AS names`);
  if (areTooMany(names)) return less(totals, await counted());
  const last = await lastVisits(db, facts, SESSIONS, names);
  let [known, inRange] = [0, 0];
  for (const name of names) {
    const start = last(name);
    if (start >= 0) known++;
    if (start >= range.from) inRange++;
  }
  return less(totals, { known, inRange });
}

function liveTotals({ sessions }: LiveTail): z.infer<typeof NAMED> {
  const totals = { ...NO_SESSIONS };
  const visitors = new Set<string>();
  for (const session of sessions) {
    visitors.add(session.visitor);
    addSession(totals, session);
  }
  return { ...totals, visitors: visitors.size, newVisitors: visitors.size, names: [...visitors] };
}
