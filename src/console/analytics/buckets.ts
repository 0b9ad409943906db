import { useRef } from 'react';
import type { KpiComparison, KpiMetrics } from '../../client/index.ts';
import { type Loaded, useLoaded } from '../answers.ts';
import { client } from '../api.ts';
import { useReload } from './context.ts';
import { useTold } from './questions.ts';
import { type Bucket, type Pair, pairsOf } from './view/buckets.ts';
import { paramsOf, type Range } from './view/range.ts';

/**
 * Asks for the figures of parts that follow each other, up to the last ms that counts (`end`). When new events came in, only the newest parts are
 * asked for again.
 */
export function useBuckets(
  appId: string,
  buckets: readonly Range[] | null,
  now: number,
  version: number,
  end?: number,
): Loaded<readonly Bucket[]> {
  const kept = useRef({ key: '', answers: new Map<number, KpiComparison>() });
  const isAsked = buckets !== null;
  const pairs = pairsOf(buckets ?? [], now, end);
  const like = isAsked ? `${appId} ${buckets[0]?.from} ${buckets.at(-1)?.to} ${buckets.length}` : undefined;
  // A part that begins changes the pairs.
  const parts = `${like} ${pairs[0]?.current}`;
  const key = isAsked ? `${parts} ${end}` : null;
  const load = async (signal: AbortSignal): Promise<readonly Bucket[]> => {
    if (kept.current.key !== parts) kept.current = { key: parts, answers: new Map() };
    const { answers } = kept.current;
    await Promise.all(
      pairs.map(async (pair, i) => {
        if (i > 0 && answers.has(pair.current)) return;
        const params = { appId, ...paramsOf(pair.range) };
        answers.set(pair.current, (await client.getOverviewKpis(params, { signal })).data);
      }),
    );
    return filled(buckets ?? [], pairs, answers);
  };
  const loaded = useLoaded(key, load, { like });
  useReload(version, isAsked, loaded);
  useTold(loaded, isAsked);
  return loaded;
}

function filled(
  buckets: readonly Range[],
  pairs: readonly Pair[],
  answers: ReadonlyMap<number, KpiComparison>,
): readonly Bucket[] {
  const figures = new Map<number, KpiMetrics<number>>();
  for (const { current, previous } of pairs) {
    const answer = answers.get(current);
    if (answer === undefined) continue;
    figures.set(current, answer.current);
    if (previous !== null) figures.set(previous, answer.previous);
  }
  return buckets.map((range, i) => ({ range, figures: figures.get(i) ?? null }));
}
