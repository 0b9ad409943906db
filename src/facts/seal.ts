import type { FactKind } from '../domain/fact-kinds.ts';
import type { EpochMs } from '../domain/time.ts';
import { type HourCounts, ledgerHours } from './hour-counts.ts';
import { appsOf, withRuns } from './run-groups.ts';
import { sealHours } from './seal-hours.ts';
import { type AppState, readStates, startOf } from './seal-states.ts';
import { OPEN_END } from './sql/tables.ts';
import { described, type SealDeps } from './stretch.ts';

/** Limits of one statement: about 4 million events, and 31 days of hours with data. */
export const MAX_EVENTS = 4_000_000;
const MAX_HOURS = 744;

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
    const ledger = await ledgerHours(db, { kind, apps: appsOf(states), from, to: target }, MAX_HOURS + 1);
    const to = stretchEnd(ledger, target);
    const spans = [{ start: from, end: to }];
    const work = {
      kind,
      states,
      from,
      to,
      spans,
      cleared: [{ start: from, end: OPEN_END }],
      ledger,
      isNew: true,
    };
    const stopped = await sealHours(deps, run, work);
    deps.onStretch?.(described(work, started));
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
