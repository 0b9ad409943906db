import { histogramOf } from '../histogram.ts';
import { percentileOf } from '../series.ts';
import { median } from '../statistics.ts';
import { barLabel, COLORS, draw, legend, logAxis, plain, valueAxis } from './draw.ts';
import { type Cases, distinct, only } from './store-plots.ts';

const SHARES = [0.5, 0.99, 0.999] as const;
const nameOf = (share: number): string => `p${Number((share * 100).toFixed(1))}`;

/** A load, measured at several rates. */
const mixOf = (name: string): string => name.replace(/, at [\d.]+ (%|\/s)$/, '');

/** Latency at growing rates. A point needs enough answers for its percentile. */
export function latencyByRatePlots(cases: Cases): string[] {
  const latencies = only(cases, 'http', 'latency');
  const rates = only(cases, 'http', 'rate');
  const rateOf = (name: string): number => rates.find((rate) => rate.name === name)?.runs[0] ?? Number.NaN;
  return distinct(latencies.map(({ name }) => mixOf(name))).map((mix) => {
    const own = latencies.filter(({ name }) => mixOf(name) === mix);
    return draw(300, {
      title: { text: mix, left: 0, textStyle: { fontSize: 14 } },
      legend: { data: SHARES.map(nameOf), top: 2, right: 40 },
      grid: { left: 60, right: 40, top: 40, bottom: 50 },
      xAxis: valueAxis('requests/s, open loop'),
      yAxis: logAxis('ms (logarithmic)', 42),
      series: SHARES.map((share) => ({
        type: 'line' as const,
        name: nameOf(share),
        symbolSize: 7,
        data: own.flatMap((entry) => {
          const { value, enough } = percentileOf(entry, share);
          return enough ? [[rateOf(entry.name), value]] : [];
        }),
      })),
    });
  });
}

/** Percentiles of all latencies, up to the last for which there are enough. */
export function distributionPlot(cases: Cases): string {
  const own = cases.filter(({ histogram, name }) => histogram !== null && !/at (25|90) %$/.test(name));
  const series = own.slice(0, COLORS.length).map((entry) => {
    const all = histogramOf(entry.histogram ?? '');
    const points: [number, number][] = [];
    for (let beyond = 1; beyond <= all.totalCount; beyond *= 1.5) {
      points.push([beyond, all.getValueAtPercentile(100 - 100 / beyond) / 1000]);
    }
    return { type: 'line' as const, name: `${entry.bench}: ${entry.name}`, symbol: 'none', data: points };
  });
  if (series.length === 0) return '';
  const percentile = (beyond: number): string => `p${Number((100 - 100 / beyond).toFixed(4))}`;
  return draw(350 + series.length * 22, {
    legend: { ...legend(series.map(({ name }) => name)), orient: 'vertical', itemGap: 8 },
    grid: { left: 60, right: 40, top: 20 + series.length * 22, bottom: 50 },
    xAxis: { ...logAxis('percentile'), axisLabel: { formatter: percentile } },
    yAxis: logAxis('ms (logarithmic)', 42),
    series,
  });
}

/** Requests per second at full speed, beside a route that does nothing. */
export function throughputPlot(cases: Cases): string {
  const own = only(cases, 'http', 'throughput');
  if (own.length === 0) return '';
  const bare = only(cases, 'http', 'bare route');
  const of = (found: { readonly runs: readonly number[] } | undefined): number | null =>
    found === undefined ? null : Math.round(median(found.runs));
  return draw(90 + own.length * 36, {
    legend: legend(['service', 'bare Express route']),
    grid: { left: 400, right: 70, top: 34, bottom: 50 },
    xAxis: valueAxis('requests/s'),
    yAxis: { type: 'category', data: own.map(({ name }) => name), inverse: true },
    series: [
      { type: 'bar', name: 'service', label: barLabel(), data: own.map(of) },
      {
        type: 'bar',
        name: 'bare Express route',
        itemStyle: { color: '#999999' },
        label: barLabel(),
        data: own.map(({ name }) => of(bare.find((entry) => entry.name === name))),
      },
    ],
  });
}

/** Events per second by the way in which they come. */
export function ingestPlot(cases: Cases): string {
  const own = only(cases, 'ingest', 'throughput');
  if (own.length === 0) return '';
  return draw(80 + own.length * 34, {
    grid: { left: 150, right: 90, top: 10, bottom: 50 },
    xAxis: valueAxis('events/s'),
    yAxis: { type: 'category', data: own.map(({ name }) => name), inverse: true },
    series: [{ type: 'bar', label: barLabel(), data: own.map(({ runs }) => Math.round(median(runs))) }],
  });
}

/** A measure of the soak over its time. */
export function soakPlots(cases: Cases): string[] {
  return only(cases, 'soak', 'by stretch').map(({ name, runs, labels }) =>
    draw(160, {
      title: {
        text: [name, labels['verdict']].filter(Boolean).join(': '),
        left: 0,
        textStyle: { fontSize: 13 },
      },
      grid: { left: 60, right: 30, top: 42, bottom: 24 },
      xAxis: { type: 'category', data: runs.map((_, i) => String(i + 1)) },
      yAxis: { type: 'value', min: 0, axisLabel: { formatter: plain } },
      series: [{ type: 'line', symbol: 'none', data: [...runs] }],
    }),
  );
}
