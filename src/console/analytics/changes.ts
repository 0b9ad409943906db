/** How a value moved against the period before. */
export type Change =
  | { readonly kind: 'percent'; readonly percent: number }
  /** There was nothing before. */
  | { readonly kind: 'new' }
  | { readonly kind: 'unknown' };

export const changeOf = (current: number, previous: number | null): Change => {
  if (previous === null) return { kind: 'unknown' };
  if (previous === 0) return current === 0 ? { kind: 'percent', percent: 0 } : { kind: 'new' };
  return { kind: 'percent', percent: ((current - previous) / previous) * 100 };
};

/** Figures of which less is better. */
const LESS_IS_BETTER: ReadonlySet<string> = new Set([
  'bounceRate',
  'bounces',
  'errors',
  'errorRate',
  'sessionsWithErrors',
  'errorCount',
  'errorSessions',
]);

/** Whether a change is welcome. */
export function moodOf(figure: string, change: Change): 'good' | 'bad' | 'even' {
  if (change.kind === 'unknown' || (change.kind === 'percent' && Math.abs(change.percent) < 0.05))
    return 'even';
  const isMore = change.kind === 'new' || change.percent > 0;
  return isMore === LESS_IS_BETTER.has(figure) ? 'bad' : 'good';
}
