import type { Moment } from '../series.ts';
import { csvOf } from '../view/csv.ts';
import { GROWTH_METRICS } from '../view/view.ts';

/** The units of the chart with all its figures. */
export function csvOfMoments(
  moments: readonly Moment[],
  previous: readonly (Moment | undefined)[] | undefined,
): string {
  const head = [
    'from',
    ...GROWTH_METRICS,
    ...(previous === undefined
      ? []
      : ['previous_from', ...GROWTH_METRICS.map((metric) => `previous_${metric}`)]),
  ];
  const cells = (moment: Moment | undefined) => [
    moment === undefined ? null : new Date(moment.at).toISOString(),
    ...GROWTH_METRICS.map((metric) => moment?.values?.[metric] ?? null),
  ];
  return csvOf(
    head,
    moments.map((moment, i) => [...cells(moment), ...(previous === undefined ? [] : cells(previous[i]))]),
  );
}
