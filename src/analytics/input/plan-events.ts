import { AppError } from '../../domain/errors.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, type Range, toIso } from '../../domain/time.ts';
import { type Ends, tailEnd } from '../../snapshots/tail-end.ts';
import { type Grain, type Plan, plan } from '../range/plan.ts';
import { rawRanges } from '../range/sql.ts';
import type { EventFacts } from './app-facts.ts';

/**
 * Plans the adjacent ranges of a question about events: raw events answer the edges and the tail. The tail of the last range
 * ends where `tailEnd` says. Throws `beyond_retention` if events may have expired from one of these pieces. Nothing else
 * decides this: sessions are counted from facts alone, and the other readers of raw events stay in hours after the horizon.
 */
export function planEvents(
  { horizon, extent, endsExactly }: Ends & Pick<EventFacts, 'horizon'>,
  ranges: readonly Range[],
  watermark: EpochMs,
  coarsest?: Grain,
): Plan[] {
  const plans = ranges.map((range) => plan(range, watermark, coarsest));
  const isKept = plans.every((pieces) =>
    rawRanges(pieces).every(({ from, to }) => from > Math.min(to, horizon - 1)),
  );
  if (!isKept) throw beyondRetention(nearest(ranges, horizon), horizon);
  const cut = ({ from, to }: Range): Range | null => {
    const end = tailEnd({ extent, endsExactly }, to);
    return from > end ? null : { from, to: end };
  };
  return plans.map((pieces, i) =>
    pieces.tail === null || i < plans.length - 1 ? pieces : { ...pieces, tail: cut(pieces.tail) },
  );
}

/**
 * Returns the range nearest to the last of `ranges` that facts answer exactly: each bound before the horizon moves to
 * the nearest whole hour. With a period before it, both bounds move, so that the period begins at a whole hour.
 */
function nearest(ranges: readonly Range[], horizon: EpochMs): Range {
  const { from, to } = ranges.at(-1) as Range;
  const end = to + 1;
  const isMoved = (at: number): boolean => at < horizon || ranges.length > 1;
  const whole = (at: number): number => (isMoved(at) ? floorTo(at + HOUR_MS / 2, HOUR_MS) : at);
  if (whole(from) < whole(end)) return { from: epochMs(whole(from)), to: epochMs(whole(end) - 1) };
  // Less than an hour: the hours that contain it.
  return { from: epochMs(floorTo(from, HOUR_MS)), to: epochMs(floorTo(to, HOUR_MS) + HOUR_MS - 1) };
}

const beyondRetention = (range: Range, horizon: EpochMs): AppError =>
  beyond(
    range,
    `Single events of this app are kept from ${toIso(horizon)} on. Before that, a range of events can only begin and end at whole hours, UTC; the nearest one is named.`,
  );

const beyond = ({ from, to }: Range, message: string): AppError =>
  new AppError('beyond_retention', message, { nearest: { from: toIso(from), to: toIso(to) } });

/**
 * Throws `beyond_retention` if one of the adjacent ranges begins before `kept`, for a question that facts alone cannot
 * answer. Ranges without data need nothing.
 */
export function assertKept(
  extent: Range | null,
  ranges: readonly Range[],
  kept: EpochMs,
  why = 'This answer needs single sessions and events of this app, which are',
): void {
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (extent === null || first === undefined || last === undefined) return;
  if (Math.max(first.from, extent.from) >= kept || last.to < extent.from) return;
  const to = epochMs(Math.max(last.to, kept + HOUR_MS - 1));
  const earliest = ranges.length === 1 ? kept : Math.ceil((kept + to + 1) / 2);
  throw beyond(
    { from: epochMs(Math.max(last.from, earliest)), to },
    `${why} kept from ${toIso(kept)} on; the nearest range is named.`,
  );
}
