import type { FactKind } from '../domain/fact-kinds.ts';
import { asSpans, type EpochMs, HOUR_MS, type Span } from '../domain/time.ts';
import { eventsIn, type HourCounts, ledgerHours, sealedHours } from './hour-counts.ts';
import { withRuns } from './run-groups.ts';
import type { Run } from './runs.ts';
import { MAX_EVENTS } from './seal.ts';
import { clear, sealHours } from './seal-hours.ts';
import { type AppState, deadRuns, readStates } from './seal-states.ts';
import { OPEN_END } from './sql/tables.ts';
import type { SealDeps } from './stretch.ts';
import { MOST_HOURS } from './touched.ts';

/** Hours of an app of which raw events were deleted, and the number of these events; null: it is not known. */
export interface Deleted {
  readonly app: string;
  readonly kind: FactKind;
  /** By the start of the hour (epoch ms), in order. */
  readonly hours: ReadonlyMap<number, number | null>;
}

/**
 * Computes the facts of these hours again, in order. The watermark is lowered to the first of them, follows the hours
 * that are done, and ends where it was. Also drops the rows that no question reads: those from the watermark on.
 *
 * Ends at the first hour that got late events besides: these change other hours, too. The following passes seal everything
 * from there on again, also if this is interrupted. Only for an app of which a visitor is being erased: nobody else
 * seals it meanwhile.
 */
export async function resealHours(
  deps: Omit<SealDeps, 'only'>,
  now: EpochMs,
  { app, kind, hours }: Deleted,
): Promise<void> {
  const { db } = deps;
  const read = async (): Promise<AppState | undefined> =>
    (await readStates({ db, only: [app], erasing: true }, kind, now, true))[0];
  const before = await read();
  if (before === undefined) return;
  const touched = [...hours.keys()].filter((hour) => hour < before.until);
  const all = { kind, apps: [app], from: touched[0] ?? 0, to: before.until };
  const ledger = await ledgerHours(db, all);
  const held = await sealedHours(db, all, await deadRuns(db, kind, [app]));
  const isKnown = (hour: number): boolean =>
    countIn(held, app, hour) === countIn(ledger, app, hour) + (hours.get(hour) ?? Number.NaN);
  const end = touched.find((hour) => !isKnown(hour)) ?? before.until;
  const groups = groupsOf(
    touched.filter((hour) => hour < end),
    ledger,
  );
  for (const [i, spans] of groups.entries()) {
    const to = groups[i + 1]?.[0]?.start ?? end;
    const from = spans[0]?.start ?? to;
    const isDone = await withRuns(db, kind, [app], 2, async (run, withdrawal) => {
      const state = await read();
      // Events came late for an hour that was just computed.
      if (state === undefined || state.until < from) return false;
      const lowered = await withdrawn(withdrawal, state, from);
      await sealHours(deps, run, {
        kind,
        states: [lowered],
        from,
        to,
        spans,
        cleared: spans,
        ledger,
        isNew: false,
      });
      return true;
    });
    if (!isDone) break;
  }
  await withRuns(db, kind, [app], 2, async (run, withdrawal) => {
    const state = await read();
    if (state === undefined) return;
    const { until } = await withdrawn(withdrawal, state, Math.min(state.until, end));
    await clear(db, run, { kind, states: [state], cleared: [{ start: until, end: OPEN_END }] });
  });
}

/** Lowers the watermark. */
async function withdrawn(run: Run, state: AppState, until: number): Promise<AppState> {
  if (state.until === until) return state;
  const lowered = { ...state, step: state.step + 1, until, era: run.number };
  await run.publish([lowered]);
  return lowered;
}

const countIn = (counts: HourCounts, app: string, hour: number): number => counts.get(app)?.get(hour) ?? 0;

/** Groups hours so that each group is as large as one run should compute. */
function groupsOf(hours: readonly number[], ledger: HourCounts): Span[][] {
  const groups: Span[][] = [];
  let group: number[] = [];
  let events = 0;
  for (const hour of hours) {
    const own = eventsIn(ledger, [{ start: hour, end: hour + HOUR_MS }]);
    if (group.length > 0 && (group.length === MOST_HOURS || events + own > MAX_EVENTS)) {
      groups.push(asSpans(group));
      [group, events] = [[], 0];
    }
    group.push(hour);
    events += own;
  }
  return group.length === 0 ? groups : [...groups, asSpans(group)];
}
