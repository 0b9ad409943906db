import { median } from '../statistics.ts';
import { figure, mebibytes } from '../table.ts';
import { groupedBars, logBars } from './draw.ts';
import { htmlTable } from './html.ts';
import { type Cases, distinct, only } from './store-plots.ts';

/** The service beside the ways in which most products count: times as a plot, and everything as a table. */
export function usualWays(cases: Cases): string[] {
  const times = only(cases, 'usual ways', 'time');
  const questions = distinct(times.map(({ labels }) => labels['question']));
  const ways = distinct(times.map(({ labels }) => labels['way']));
  if (times.length === 0) return [];
  const of = (measure: string, question: string, way: string): number | null => {
    const found = only(cases, 'usual ways', measure).find(
      ({ labels }) => labels['question'] === question && labels['way'] === way,
    );
    return found === undefined ? null : median(found.runs);
  };
  const series = ways.map((way) => ({
    name: way,
    data: questions.map((question) => of('time', question, way)),
  }));
  const plot = groupedBars(questions, series, { left: 210, axis: logBars('ms (logarithmic)', 0.01) });
  const rows = questions.flatMap((question) =>
    ways.flatMap((way) => {
      const [time, error] = ['time', 'error'].map((measure) => of(measure, question, way));
      if (time === null || time === undefined) return [];
      return [
        [
          question,
          way,
          figure(time),
          typeof error === 'number' ? (error === 0 ? 'exact' : `${error.toPrecision(2)} %`) : '',
        ],
      ];
    }),
  );
  const stored = only(cases, 'usual ways', 'storage').map(({ name, runs }) => [
    name,
    mebibytes(runs[0] ?? 0),
  ]);
  return [
    plot,
    htmlTable(['question', 'way', 'ms', 'error'], rows, 2),
    htmlTable(['on disk', 'MiB'], stored),
  ];
}
