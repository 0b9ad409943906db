import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
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

/** One statement computes at most about this many events, and at most three days that hold any. */
const MAX_EVENTS = 4_000_000;
const MAX_HOURS = 72;
/** In one run. */
export const MAX_APPS = 500;
const MAX_MEMORY = 4 * 1024 ** 3;
/** With more late events, as of an import, everything from the first of them on is sealed anew. */
const MOST_REPAIRED = 100_000;

export interface SealDeps {
  readonly db: Database;
  /** Seal these alone; all apps where absent. */
  readonly only?: readonly string[];
  /** Ends the work after the statement at hand. */
  readonly signal?: AbortSignal;
  /** Told after each stretch: how far, how many apps and events. */
  readonly onStretch?: (stretch: Stretch) => void;
}

export interface Stretch {
  readonly kind: FactKind;
  readonly apps: number;
  readonly events: number;
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** Hours that late events changed; otherwise hours that follow the last ones. */
  readonly isRepair: boolean;
  readonly ms: number;
}

/** What one run seals: hours of apps that are all sealed to the same instant. */
interface Work {
  readonly kind: FactKind;
  readonly states: readonly AppState[];
  /** The first hour whose facts are not known to be whole. */
  readonly from: number;
  /** Facts answer before this instant when it is done. */
  readonly to: number;
  /** The hours to be computed, in order. */
  readonly spans: readonly Span[];
  /** The hours whose older rows are taken away: those of `spans`, or all that follow. */
  readonly cleared: readonly Span[];
  /** What the ledger counted of each hour before anything was computed. */
  readonly ledger: HourCounts;
}

/**
 * Seals the next hours of apps that are all sealed to the same instant. The stretch ends where the first of these apps is ripe no further,
 * or after as much as one statement should compute. Resolves to the apps that stopped on the way: something came in meanwhile.
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

/** The states as they are now, of those that nobody changed since they were read. */
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

/** Where a stretch ends that begins with the first of these hours. */
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
 * Seals again what late events changed of an app, as much of it as one run should. Two runs are opened together: the first publishes how
 * far the facts are untouched; the second computes what is touched, and publishes what was sealed before. Where it does not come to
 * that, or where one hour alone touches too much, everything from there on is sealed anew by the stretches that follow.
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
    const late = await lateHours(db, app, kind, { until, dead });
    const [first] = late;
    if (first === undefined) return;
    const ledger = await ledgerHours(db, { kind, apps: [app], from: first.hour, to: until });
    const isKept = kind === 'page' || (await areKept(db, [app], first.hour));
    const isMuch = late.length > MOST_LATE_HOURS || state.late > MOST_REPAIRED;
    const spans = isMuch ? [] : await repairable({ app, db, kind, late, until, dead, isKept }, ledger);
    const from = spans[0]?.start ?? first.hour;
    await withdrawal.publish([
      { app, step: step + 1, until: from, era: withdrawal.number, rebuilt: state.rebuilt },
    ]);
    if (spans.length === 0) return;
    const states = [{ ...state, step: step + 1, era: withdrawal.number }];
    const work = { kind, states, from, to: until, spans, cleared: spans, ledger };
    await sealHours(deps, run, work);
    deps.onStretch?.(described(work, true, started));
  });
}

/** What the first late hours touch, as many of these as one run should repair; nothing where the first alone touches too much. */
async function repairable(touched: Touched, ledger: HourCounts): Promise<readonly Span[]> {
  for (let count = touched.late.length; count > 0; count = Math.floor(count / 2)) {
    const spans = await touchedHours(touched, count);
    if (spans !== null && eventsIn(ledger, spans) <= MAX_EVENTS) return spans;
  }
  return [];
}

/** Forgets every fact of `only` (all apps where absent): raw rows answer until they are sealed again. Resolves to the number of apps. */
export async function unseal({ db, only = [] }: SealDeps, now: EpochMs): Promise<number> {
  const apps = new Set<string>();
  for (const kind of FACT_KINDS) {
    const all = appsOf(await readStates({ db, only }, kind, now, true));
    for (let i = 0; i < all.length; i += MAX_APPS) {
      const group = all.slice(i, i + MAX_APPS);
      await withRuns(db, kind, group, 1, async (run) => {
        const states = await readStates({ db, only: group }, kind, now, true);
        const sealed = states.filter(({ until }) => until > 0);
        if (sealed.length === 0) return;
        await run.publish(
          sealed.map(({ app, step }) => ({
            app,
            step: step + 1,
            until: 0,
            era: run.number,
            rebuilt: run.number,
          })),
        );
        for (const { app } of sealed) apps.add(app);
      });
    }
  }
  return apps.size;
}

/** Opens runs for `work` and ends them, however it went. */
async function withRuns<T>(
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
    // Where this fails, the next run for these apps declares them dead.
    await Promise.allSettled(runs.map((run) => run.end()));
  }
}

/** Clears, computes, sums up, compares and publishes. Resolves to the apps whose facts are not whole to the end. */
async function sealHours({ db, signal }: SealDeps, run: Run, work: Work): Promise<string[]> {
  const { kind, states, from, to, spans, ledger } = work;
  const apps = appsOf(states);
  const dead = await deadRuns(db, kind, apps);
  const execute = async (name: string, sql: string, params: Readonly<Record<string, number>> = {}) => {
    signal?.throwIfAborted();
    await db.command(
      `seal ${kind} ${name}`,
      `${sql}\nSETTINGS insert_deduplicate = 0, max_execution_time = ${MAX_SECONDS}, max_memory_usage = ${MAX_MEMORY}, max_bytes_before_external_group_by = ${MAX_MEMORY / 4}, max_bytes_before_external_sort = ${MAX_MEMORY / 4}`,
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
  for (const { name, unitMs, sql } of ROLL_UPS[kind]) {
    const whole = bucketsOf(spans, unitMs)
      .map(({ start, end }) => ({ start, end: Math.min(end, floorTo(to, unitMs)) }))
      .filter(({ start, end }) => start < end);
    if (whole.length > 0) await execute(name, sql(whole));
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
    await run.publish(
      further.map(({ state: { app, step, era, rebuilt }, until }) => ({
        app,
        step: step + 1,
        until,
        era,
        rebuilt,
      })),
    );
  }
  return ends.filter(({ stopped }) => stopped < to).map(({ state }) => state.app);
}

/**
 * Takes older rows of the hours away: facts that late events made wrong, and rows of runs that did not publish; usually there are
 * none. Only rows of runs that wrote before this one are named, and nothing of these hours that they wrote is ever read again, so it does
 * no harm whenever a deletion is carried out.
 */
async function clear(db: Database, run: Run, { kind, states, cleared }: Work): Promise<void> {
  const apps = appsOf(states);
  const cuts = CUTS[kind].map(({ table, within }) => ({ table, rows: within(cleared) }));
  const found = await db.query(
    {
      name: `seal ${kind} leftovers`,
      sql: cuts
        .map(
          ({ table, rows }, cut) =>
            `SELECT ${cut} AS cut, groupUniqArray(run) AS runs FROM ${table} WHERE app_id IN {apps:Array(UUID)} AND ${rows} GROUP BY cut`,
        )
        .join('\nUNION ALL\n'),
      row: z.object({ cut: z.number(), runs: z.array(z.number()) }),
    },
    { apps },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
  if (found.length === 0) return;
  // Nobody else wrote before this moment: a run that comes later declares this one dead before it writes.
  await run.assertAlive();
  for (const [index, { table, rows }] of cuts.entries()) {
    const runs = found.find(({ cut }) => cut === index)?.runs;
    if (runs === undefined) continue;
    await db.command(
      `seal ${kind} take away`,
      `DELETE FROM ${table} WHERE app_id IN {apps:Array(UUID)} AND run IN {runs:Array(UInt64)} AND ${rows}`,
      { apps, runs },
      { lane: 'seal' },
    );
  }
}

const appsOf = (states: readonly AppState[]): string[] => states.map(({ app }) => app);

function eventsIn(counts: HourCounts, spans: readonly Span[]): number {
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
