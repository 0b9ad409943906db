import { type EpochMs, hourOf } from '../../domain/time.ts';
import type { Plan } from '../range/plan.ts';
import { edgeRanges } from '../range/sql.ts';
import type { LateEvent, LateKey, LatePairs } from './late.ts';
import { isPaired, type KeyGroup, type KeySums } from './pieces.ts';

/**
 * Returns the corrections for everything before the plan's tail. Raw rows of its edges count events that were inserted up to
 * `heldUntil`.
 */
export function lateKeySums(
  late: readonly LatePairs[],
  plan: Plan,
  { kinds }: KeyGroup,
  heldUntil: EpochMs,
): KeySums[] {
  const isOf = ({ pair }: { readonly pair: string }): boolean =>
    kinds.some((kind) => pair.startsWith(`${kind} `));
  const edges = edgeRanges(plan);
  return late.flatMap(({ keys, events }) => [
    ...keys.filter(isOf).flatMap((key) => hourSums(key, plan)),
    ...edges.flatMap(({ from, to }) => {
      const own = events.filter((event) => event.at >= from && event.at <= to && isOf(event));
      const counted = own.filter(({ insertedAt }) => insertedAt <= heldUntil);
      return [...edgeSums(own, 1), ...edgeSums(counted, -1)];
    }),
  ]);
}

function hourSums(key: LateKey, { range, sealed, right }: Plan): KeySums[] {
  const { sign, hour, pair, events, engagedMs, engagements, prevAt, firstAt } = key;
  const isMet = events > 0 && isPaired(pair);
  if (hour >= sealed.start && hour < sealed.end) {
    const sessions = isMet && prevAt < range.from ? sign : 0;
    return [[pair, sign * events, sessions, sign * engagedMs, sign * engagements]];
  }
  // The edge counts each pair of a session once. The facts tell which of them occurred earlier in the range.
  const isRight = right !== null && hour === hourOf(right.from);
  if (!isRight || !isMet || prevAt < range.from || firstAt > right.to) return [];
  return [[pair, 0, -sign, 0, 0]];
}

/** The sums of a session's events in an edge. The session counts once for each of its pairs. */
function edgeSums(events: readonly LateEvent[], sign: 1 | -1): KeySums[] {
  const met = new Set<string>();
  return events.map(({ pair, engagedMs }) => {
    if (engagedMs !== null) return [pair, 0, 0, sign * engagedMs, sign];
    const sessions = isPaired(pair) && !met.has(pair) ? sign : 0;
    met.add(pair);
    return [pair, sign, sessions, 0, 0];
  });
}
