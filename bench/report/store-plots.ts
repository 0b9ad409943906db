import type { Case } from '../result/schema.ts';
import { median, percentile } from '../statistics.ts';
import { COLOR_OF, draw, groupedBars, legend, logAxis, logBars, valueAxis } from './draw.ts';

export type Cases = readonly Case[];

export const only = (cases: Cases, bench: string, measure: string): Case[] =>
  cases.filter((entry) => entry.bench === bench && entry.measure === measure);

export const distinct = (values: readonly (string | number | boolean | undefined)[]): string[] => [
  ...new Set(values.filter((value) => value !== undefined).map(String)),
];

const inRange = (cases: Cases, range: string): Case[] =>
  cases.filter(({ bench, labels }) => bench === 'queries' && labels['range'] === range);

const questionsOf = (cases: Cases): string[] => distinct(cases.map(({ labels }) => labels['endpoint']));

const MEASURES = [
  'polled',
  'kept',
  'first',
  'computed',
  'unchanged',
  'live',
  'storing',
  'late',
  'raw',
] as const;

const runsOf = (cases: Cases, question: string, measure: string): readonly number[] =>
  cases.find((entry) => entry.labels['endpoint'] === question && entry.measure === measure)?.runs ?? [];

/** Echarts leaves a gap for null. */
const middle = (runs: readonly number[]): number | null => (runs.length === 0 ? null : median(runs));

/** Median times of each question in one range: of the service, and raw. */
export function timesPlot(cases: Cases, range: string): string {
  const own = inRange(cases, range);
  const questions = questionsOf(own);
  const measures = MEASURES.filter((measure) => own.some((entry) => entry.measure === measure));
  if (questions.length === 0) return '';
  const series = measures.map((measure) => ({
    name: measure,
    color: COLOR_OF[measure],
    data: questions.map((question) => middle(runsOf(own, question, measure))),
  }));
  return groupedBars(questions, series, { left: 130, axis: logBars('ms (logarithmic)', 0.01) });
}

/** The spread of the runs: smallest, quartiles, largest. */
export function spreadPlot(cases: Cases, range: string): string {
  const own = inRange(cases, range);
  const questions = questionsOf(own);
  const measures = MEASURES.filter(
    (measure) => measure !== 'raw' && own.some((entry) => entry.measure === measure),
  );
  if (questions.length === 0) return '';
  return draw(380, {
    legend: legend(measures),
    grid: { left: 60, right: 20, top: 40, bottom: 60 },
    xAxis: { type: 'category', data: questions, axisLabel: { interval: 0 } },
    yAxis: logAxis('ms (logarithmic)', 42),
    series: measures.map((measure) => ({
      type: 'boxplot' as const,
      name: measure,
      color: COLOR_OF[measure],
      itemStyle: { borderColor: COLOR_OF[measure] },
      data: questions.map((question) => {
        const runs = runsOf(own, question, measure);
        return runs.length === 0 ? [] : [0, 0.25, 0.5, 0.75, 1].map((share) => percentile(runs, share));
      }),
    })),
  });
}

/** How many times longer the raw question takes. */
export function ratioPlot(cases: Cases): string {
  const raw = only(cases, 'queries', 'raw');
  const questions = questionsOf(raw);
  const ranges = distinct(raw.map(({ labels }) => labels['range']));
  if (questions.length === 0) return '';
  const series = ranges.map((range) => ({
    name: range,
    data: questions.map((question) => {
      const own = inRange(cases, range);
      const ratio = median(runsOf(own, question, 'raw')) / median(runsOf(own, question, 'first'));
      return Number.isFinite(ratio) ? ratio : null;
    }),
  }));
  return groupedBars(questions, series, {
    left: 130,
    axis: logAxis('raw by first (logarithmic)'),
    unit: '×',
  });
}

/** The time of the same question on larger data. */
export function scalePlot(cases: Cases): string {
  const own = cases.filter(({ bench }) => bench === 'scale');
  const questions = questionsOf(own);
  const sizes = distinct(own.map(({ name }) => name.slice(name.indexOf(', ') + 2)));
  if (questions.length === 0) return '';
  const of = (question: string, measure: string) =>
    sizes.map((size) => {
      const found = own.find((entry) => entry.name === `${question}, ${size}` && entry.measure === measure);
      return middle(found?.runs ?? []);
    });
  const line = (question: string, measure: 'first' | 'raw') => ({
    type: 'line' as const,
    name: question,
    lineStyle: { type: measure === 'raw' ? ('dashed' as const) : ('solid' as const), width: 2 },
    symbolSize: 7,
    data: of(question, measure),
  });
  return draw(420, {
    legend: legend(questions),
    grid: { left: 60, right: 40, top: 50, bottom: 40 },
    xAxis: { type: 'category', data: sizes },
    yAxis: logAxis('ms (logarithmic)', 42),
    series: questions.flatMap((question) => [line(question, 'first'), line(question, 'raw')]),
  });
}

/** Bytes per event by kind of table. */
export function storagePlot(cases: Cases): string {
  const kinds = only(cases, 'data', 'storage').filter(({ runs }) => (runs[0] ?? 0) > 0);
  const events = only(cases, 'data', 'rows').find(({ name }) => name === 'raw')?.runs[0];
  if (kinds.length === 0 || events === undefined) return '';
  return draw(160, {
    legend: legend(kinds.map(({ name }) => name)),
    grid: { left: 20, right: 30, top: 34, bottom: 50 },
    xAxis: valueAxis('bytes on disk per event'),
    yAxis: { type: 'category', data: [''] },
    series: kinds.map(({ name, runs }) => {
      const bytes = (runs[0] ?? 0) / events;
      const label = { show: bytes > 1, formatter: bytes.toFixed(1) };
      return { type: 'bar' as const, name, stack: 'all', label, data: [bytes] };
    }),
  });
}
