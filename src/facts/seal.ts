import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import { identifier, join, type Sql, sql } from '../clickhouse/sql.ts';
import { type EpochMs, epochMs, floorTo, type Span } from '../domain/time.ts';
import { compute } from './compute.ts';
import { Run } from './runs.ts';
import {
  type AppState,
  areKept,
  deadRuns,
  differences,
  FACT_KINDS,
  type HourCounts,
  ledgerHours,
  MAX_SECONDS,
  readStates,
  sealedHours,
  startOf,
} from './seal-states.ts';
import { bucketsOf, CUTS, OPEN_END, ROLL_UPS } from './tables.ts';
import { type Touched, touchedHours } from './touched.ts';
import { type FactKind, lateHours, MOST_LATE_HOURS } from './watermarks.ts';

/** Limits of one statement: about 4 million events, and 72 hours with data. */
export const MAX_EVENTS = 4_000_000;
const MAX_HOURS = 72;
/** Limit of one run. */
const MAX_APPS = 500;
const MAX_MEMORY = 4 * 1024 ** 3;
/**
 * If more events are late, for example after an import, everything from the first of them on is sealed again.
 */
const MOST_REPAIRED = 100_000;

export interface SealDeps {
  readonly db: Database;
  /** Restricts sealing to these apps; all apps by default. */
  readonly only?: readonly string[];
  /** Ends the work after the current statement. */
  readonly signal?: AbortSignal;
  /** Called after each stretch. */
  readonly onStretch?: (stretch: Stretch) => void;
}

export interface Stretch {
  readonly kind: FactKind;
  readonly apps: number;
  readonly events: number;
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** True for hours that got late events, false for new hours. */
  readonly isRepair: boolean;
  readonly ms: number;
}

/** The hours that a run seals, of apps that share a watermark. */
export interface Work {
  readonly kind: FactKind;
  readonly states: readonly AppState[];
  /** The first hour whose facts may be incomplete. */
  readonly from: number;
  /** The watermark that the run publishes if nothing changes meanwhile. */
  readonly to: number;
  /** The hours to compute, in order. */
  readonly spans: readonly Span[];
  /** The hours whose older rows are deleted: those of `spans`, or all that follow. */
  readonly cleared: readonly Span[];
  /** The ledger's count of each hour, read before anything is computed. */
  readonly ledger: HourCounts;
}

/**
 * Seals the next hours of apps that share a watermark. The stretch ends at the first hour that is not ripe in
 * one of the apps, or when it is as large as one statement should compute. Resolves to the apps that got
 * events meanwhile and stopped earlier.
 */
export async function sealStretch(
  deps: SealDeps,
  now: EpochMs,
  kind: FactKind,
  group: readonly AppState[],
): Promise<string[]> {
  const started = performance.now();
  const { db } = deps;
  return withRuns(db, kind, appsOf(group), 1, async (run) => {
    const states = await unchanged(deps, now, kind, group);
    const from = Math.min(...states.map(startOf));
    const target = Math.min(...states.map(({ ripe }) => ripe));
    if (states.length === 0 || from >= target) return appsOf(group);
    const ledger = await ledgerHours(db, { kind, apps: appsOf(states), from, to: target });
    const to = stretchEnd(ledger, target);
    const spans = [{ start: from, end: to }];
    const work = { kind, states, from, to, spans, cleared: [{ start: from, end: OPEN_END }], ledger };
    const stopped = await sealHours(deps, run, work);
    deps.onStretch?.(described(work, false, started));
    return stopped;
  });
}

/** Reads the states again, and leaves out those that changed since `before`. */
async function unchanged(
  { db }: SealDeps,
  now: EpochMs,
  kind: FactKind,
  before: readonly AppState[],
): Promise<readonly AppState[]> {
  const steps = new Map(before.map(({ app, step }) => [app, step]));
  const states = await readStates({ db, only: appsOf(before) }, kind, now, true);
  return states.filter(({ app, step }) => step === steps.get(app));
}

/** Returns the end of a stretch that starts with the first of these hours. */
function stretchEnd(ledger: HourCounts, target: number): number {
  const sums = new Map<number, number>();
  for (const hours of ledger.values()) {
    for (const [hour, events] of hours) sums.set(hour, (sums.get(hour) ?? 0) + events);
  }
  let total = 0;
  for (const [index, [hour, events]] of [...sums].sort(([a], [b]) => a - b).entries()) {
    total += events;
    if (index > 0 && (total > MAX_EVENTS || index >= MAX_HOURS)) return hour;
  }
  return target;
}

/**
 * Seals hours of an app again that got late events, as many as one run should. Opens two runs together: the
 * first lowers the watermark to the first affected hour; the second computes the affected hours and restores
 * the watermark. If the second does not publish, or if one late hour alone affects too much, later stretches
 * seal everything from that hour on again.
 */
export async function repair(
  deps: SealDeps,
  now: EpochMs,
  kind: FactKind,
  { app, step }: AppState,
): Promise<void> {
  const started = performance.now();
  const { db } = deps;
  await withRuns(db, kind, [app], 2, async (run, withdrawal) => {
    const [state] = await readStates({ db, only: [app] }, kind, now, true);
    if (state === undefined || state.step !== step) return;
    const { until } = state;
    const dead = await deadRuns(db, kind, [app]);
    // Nothing comes late for hours before the horizon. If it did all the same, their facts would have to stay.
    const late = (await lateHours(db, app, kind, { until, dead })).filter(
      ({ hour }) => hour >= state.horizon,
    );
    const [first] = late;
    if (first === undefined) return;
    const ledger = await ledgerHours(db, { kind, apps: [app], from: first.hour, to: until });
    const isKept = kind === 'page' || (await areKept(db, [app], first.hour));
    const isMuch = late.length > MOST_LATE_HOURS || state.late > MOST_REPAIRED;
    const spans = isMuch ? [] : await repairable({ app, db, kind, late, until, dead, isKept }, ledger);
    const from = spans[0]?.start ?? first.hour;
    await withdrawal.publish([{ ...state, step: step + 1, until: from, era: withdrawal.number }]);
    if (spans.length === 0) return;
    const states = [{ ...state, step: step + 1, era: withdrawal.number }];
    const work = { kind, states, from, to: until, spans, cleared: spans, ledger };
    await sealHours(deps, run, work);
    deps.onStretch?.(described(work, true, started));
  });
}

/**
 * Returns the hours that the first late hours affect, for as many of them as one run should repair; none if
 * the first alone affects too many.
 */
async function repairable(touched: Touched, ledger: HourCounts): Promise<readonly Span[]> {
  for (let count = touched.late.length; count > 0; count = Math.floor(count / 2)) {
    const spans = await touchedHours(touched, count);
    if (spans !== null && eventsIn(ledger, spans) <= MAX_EVENTS) return spans;
  }
  return [];
}

/**
 * Drops the facts of `only` (all apps by default) from the horizon on: raw rows answer until they are sealed
 * again. The facts before it stay, for their raw rows are gone. Resolves to the number of apps.
 */
export async function unseal({ db, only = [] }: SealDeps, now: EpochMs): Promise<number> {
  const apps = new Set<string>();
  for (const kind of FACT_KINDS) {
    const all = appsOf(await readStates({ db, only }, kind, now, true));
    for (const group of groupsOfRuns(db, all, (app) => app)) {
      await withRuns(db, kind, group, 1, async (run) => {
        const states = await readStates({ db, only: group }, kind, now, true);
        const sealed = states.filter(({ until, horizon }) => until > horizon);
        if (sealed.length === 0) return;
        await run.publish(
          sealed.map(({ app, step, horizon }) => ({
            app,
            step: step + 1,
            until: horizon,
            era: run.number,
            rebuilt: run.number,
            horizon,
          })),
        );
        for (const { app } of sealed) apps.add(app);
      });
    }
  }
  return apps.size;
}

/** Splits apps into groups of which one run seals each: on one shard, and not too many. */
export function groupsOfRuns<T>({ shards }: Database, apps: readonly T[], idOf: (app: T) => string): T[][] {
  const groups = Array.from({ length: shards.count }, (): T[] => []);
  for (const app of apps) groups[shards.of(idOf(app))]?.push(app);
  return groups.flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MAX_APPS) }, (_, i) =>
      group.slice(i * MAX_APPS, (i + 1) * MAX_APPS),
    ),
  );
}

/** Opens runs for `work` and ends them, also if it fails. */
export async function withRuns<T>(
  db: Database,
  kind: FactKind,
  apps: readonly string[],
  count: 1 | 2,
  work: (run: Run, other: Run) => Promise<T>,
): Promise<T> {
  const runs = await Run.open(db, kind, apps, count);
  try {
    return await work(runs[0] as Run, runs.at(-1) as Run);
  } finally {
    // If this fails, the next run of these apps declares them dead.
    await Promise.allSettled(runs.map((run) => run.end()));
  }
}

/**
 * Clears, computes, rolls up, compares and publishes. Resolves to the apps whose new watermark is lower than
 * planned.
 */
export async function sealHours({ db, signal }: SealDeps, run: Run, work: Work): Promise<string[]> {
  const { kind, states, from, to, spans, ledger } = work;
  const apps = appsOf(states);
  const dead = await deadRuns(db, kind, apps);
  const execute = async (name: string, statement: Sql, params: Readonly<Record<string, number>> = {}) => {
    signal?.throwIfAborted();
    await db.command(
      `seal ${kind} ${name}`,
      sql`${statement}\nSETTINGS insert_deduplicate = 0, max_execution_time = ${MAX_SECONDS}, max_memory_usage = ${MAX_MEMORY}, max_bytes_before_external_group_by = ${MAX_MEMORY / 4}, max_bytes_before_external_sort = ${MAX_MEMORY / 4}`,
      { apps, dead, run: run.number, ...params },
      { lane: 'seal' },
    );
  };
  await clear(db, run, work);
  run.begin();
  for (const { start, end } of spans) {
    const isKept = kind === 'page' || (await areKept(db, apps, start));
    await execute('facts', compute(kind, isKept), { from: start, to: end });
  }
  for (const { name, unitMs, statementOf } of ROLL_UPS[kind]) {
    const whole = bucketsOf(spans, unitMs)
      .map(({ start, end }) => ({ start, end: Math.min(end, floorTo(to, unitMs)) }))
      .filter(({ start, end }) => start < end);
    if (whole.length > 0) await execute(name, statementOf(whole));
  }
  const sealed = await sealedHours(db, { kind, apps, from, to }, dead);
  const ends = states.map((state) => {
    const [stopped = to] = differences(state.app, ledger, sealed).filter((hour) =>
      spans.some(({ start, end }) => hour >= start && hour < end),
    );
    return { state, stopped, until: Math.min(stopped, state.last) };
  });
  const further = ends.filter(({ until }) => until > from);
  if (further.length > 0) {
    await run.publish(further.map(({ state, until }) => ({ ...state, step: state.step + 1, until })));
  }
  return ends.filter(({ stopped }) => stopped < to).map(({ state }) => state.app);
}

/**
 * Deletes older rows of the hours: facts that late events made wrong, and rows of runs that did not publish;
 * usually there are none. The deletion names only runs that wrote before this one. Their rows of these hours
 * are never read again, so it may be carried out at any later time.
 */
export async function clear(
  db: Database,
  run: Run,
  { kind, states, cleared }: Pick<Work, 'kind' | 'states' | 'cleared'>,
): Promise<void> {
  const apps = appsOf(states);
  const cuts = CUTS[kind].map(({ table, within }) => ({ table, rows: within(cleared) }));
  const found = await db.query(
    {
      name: `seal ${kind} leftovers`,
      sql: join(
        cuts.map(
          ({ table, rows }, cut) =>
            sql`SELECT ${cut} AS cut, groupUniqArray(run) AS runs FROM ${identifier(table)} WHERE app_id IN {apps:Array(UUID)} AND ${rows} GROUP BY cut`,
        ),
        sql`\nUNION ALL\n`,
      ),
      row: z.object({ cut: z.number(), runs: z.array(z.number()) }),
    },
    { apps },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
  if (found.length === 0) return;
  // Only runs from before this moment are found: a later run declares this one dead before it writes.
  await run.assertAlive();
  for (const [index, { table, rows }] of cuts.entries()) {
    const runs = found.find(({ cut }) => cut === index)?.runs;
    if (runs === undefined) continue;
    await db.command(
      `seal ${kind} take away`,
      sql`DELETE FROM ${db.shards.stored(table)} WHERE app_id IN {apps:Array(UUID)} AND run IN {runs:Array(UInt64)} AND ${rows}`,
      { apps, runs },
      { lane: 'seal' },
    );
  }
}

export const appsOf = (states: readonly { readonly app: string }[]): string[] => states.map(({ app }) => app);

export function eventsIn(counts: HourCounts, spans: readonly Span[]): number {
  let sum = 0;
  for (const hours of counts.values()) {
    for (const [hour, events] of hours) {
      if (spans.some(({ start, end }) => hour >= start && hour < end)) sum += events;
    }
  }
  return sum;
}

const described = (work: Work, isRepair: boolean, started: number): Stretch => ({
  kind: work.kind,
  apps: work.states.length,
  events: eventsIn(work.ledger, work.spans),
  from: epochMs(work.spans[0]?.start ?? work.from),
  to: epochMs(isRepair ? (work.spans.at(-1)?.end ?? work.to) : work.to),
  isRepair,
  ms: performance.now() - started,
});
