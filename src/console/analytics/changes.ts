/** How a value moved against the period before. */
export type Change =
  | { readonly kind: 'percent'; readonly percent: number }
  /** Of a share: a percentage of a percentage would be read as a difference. */
  | { readonly kind: 'points'; readonly points: number }
  /** There was nothing before. */
  | { readonly kind: 'new' }
  | { readonly kind: 'unknown' };

export const changeOf = (current: number, previous: number | null): Change => {
  if (previous === null) return { kind: 'unknown' };
  if (previous === 0) return current === 0 ? { kind: 'percent', percent: 0 } : { kind: 'new' };
  return { kind: 'percent', percent: ((current - previous) / previous) * 100 };
};

const SHARES: ReadonlySet<string> = new Set(['bounceRate', 'errorRate']);
/** Figures that a period without sessions does not have. Answers write 0 for them. */
const PER_SESSION: ReadonlySet<string> = new Set([
  ...SHARES,
  'averageSessionDurationMs',
  'pagesPerSession',
  'clicksPerSession',
]);

/** A figure in the range and in the period before, and the sessions in both. */
export interface Compared {
  readonly values: readonly [current: number, previous: number];
  readonly sessions: readonly [current: number, previous: number];
}

export function changeOfFigure(figure: string, { values: [current, previous], sessions }: Compared): Change {
  if (PER_SESSION.has(figure) && sessions.includes(0)) return { kind: 'unknown' };
  // Rates have few decimals. The error of a float lies far behind them.
  if (SHARES.has(figure)) return { kind: 'points', points: Number(((current - previous) * 100).toFixed(6)) };
  return changeOf(current, previous);
}

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
  if (change.kind === 'unknown') return 'even';
  const moved = amountOf(change);
  if (Math.abs(moved) < 0.05) return 'even';
  const isMore = moved > 0;
  return isMore === LESS_IS_BETTER.has(figure) ? 'bad' : 'good';
}

function amountOf(change: Exclude<Change, { readonly kind: 'unknown' }>): number {
  if (change.kind === 'new') return Number.POSITIVE_INFINITY;
  return change.kind === 'percent' ? change.percent : change.points;
}
