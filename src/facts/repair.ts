import type { FactKind } from '../domain/fact-kinds.ts';
import { appId } from '../domain/ids.ts';
import { type EpochMs, epochMs, type Span } from '../domain/time.ts';
import { MOST_LATE_HOURS } from '../snapshots/late-hour.ts';
import { readLateHours } from '../snapshots/late-hours.ts';
import { eventsIn, type HourCounts, ledgerHours } from './hour-counts.ts';
import { withRuns } from './run-groups.ts';
import { MAX_EVENTS } from './seal.ts';
import { sealHours } from './seal-hours.ts';
import { type AppState, areKept, deadRuns, readStates } from './seal-states.ts';
import { described, type SealDeps } from './stretch.ts';
import { MOST_REPAIRED, type Touched, touchedHours } from './touched.ts';

/**
 * Seals hours of an app again that got late events, as many as one run should. Opens two runs together. One run
 * lowers the watermark to the first affected hour. The other then computes the affected hours and restores the
 * watermark. If it does not publish, or if too much is late for one run, later stretches seal everything from that
 * hour on again.
 */
export async function repair(
  deps: SealDeps,
  now: EpochMs,
  kind: FactKind,
  { app: name, step }: AppState,
): Promise<void> {
  const started = performance.now();
  const { db } = deps;
  const app = appId(name);
  await withRuns(db, kind, [app], 2, async (run, withdrawal) => {
    const [state] = await readStates({ db, only: [app] }, kind, now, true);
    if (state === undefined || state.step !== step) return;
    const { until } = state;
    const dead = await deadRuns(db, kind, [app]);
    // Nothing comes late for hours before the horizon. If it did all the same, their facts would have to stay.
    const hours = await readLateHours(db, app, { [kind]: { until: epochMs(until), dead } });
    const late = hours[kind].filter(({ hour }) => hour >= state.horizon);
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
    const work = { kind, states, from, to: until, spans, cleared: spans, ledger, isNew: false };
    await sealHours(deps, run, work);
    deps.onStretch?.(described(work, started));
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
