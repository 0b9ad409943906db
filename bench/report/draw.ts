import { BarChart, BoxplotChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { figure } from '../table.ts';

use([BarChart, BoxplotChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

type Option = Parameters<ReturnType<typeof init>['setOption']>[0];

/** Distinguishable also by people who see few colours (Okabe and Ito). */
export const COLORS = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#000000',
  '#999999',
];
const FONT = 'system-ui, -apple-system, "Segoe UI", sans-serif';
const WIDTH = 960;

/** Draws a plot as SVG. It has no scripts and refers to nothing outside. */
export function draw(height: number, option: Option): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({ animation: false, color: COLORS, textStyle: { fontFamily: FONT }, ...option });
  const svg = chart.renderToSVGString({ useViewBox: true });
  chart.dispose();
  return svg;
}

/** A measure has the same colour in all plots. */
export const COLOR_OF: Readonly<Record<string, string>> = {
  polled: '#0072b2',
  kept: '#0072b2',
  unchanged: '#0072b2',
  first: '#d55e00',
  computed: '#d55e00',
  live: '#009e73',
  storing: '#56b4e9',
  late: '#cc79a7',
  raw: '#999999',
};

export const legend = (names: readonly string[]) => ({ data: [...names], top: 0, left: 0, itemGap: 18 });

export const plain = (value: number): string =>
  value >= 10_000 ? value.toLocaleString('en') : String(Number(value.toPrecision(3)));

/** An axis of milliseconds or of ratios, over orders of magnitude. */
export const logAxis = (name: string, nameGap = 32) => ({
  type: 'log' as const,
  name,
  nameLocation: 'middle' as const,
  nameGap,
  axisLabel: { formatter: plain },
});

export const valueAxis = (name: string) => ({
  type: 'value' as const,
  name,
  nameLocation: 'middle' as const,
  nameGap: 32,
  min: 0,
  axisLabel: { formatter: plain },
});

/** The same for bars, which begin at `least`. */
export const logBars = (name: string, least: number) => ({ ...logAxis(name), min: least, startValue: least });

/** A label at the end of a bar. */
export const barLabel = (unit = '') => ({
  show: true,
  position: 'right' as const,
  fontSize: 11,
  formatter: ({ value }: { readonly value?: unknown }) =>
    typeof value === 'number' ? `${value >= 10_000 ? plain(Math.round(value)) : figure(value)}${unit}` : '',
});

/** One group of bars for each name, with a bar of each series. `left`: the space for the names. */
export const groupedBars = (
  names: readonly string[],
  series: readonly {
    readonly name: string;
    readonly color?: string | undefined;
    readonly data: readonly (number | null)[];
  }[],
  {
    left,
    axis,
    unit = '',
  }: { readonly left: number; readonly axis: NonNullable<Option['xAxis']>; readonly unit?: string },
): string =>
  draw(90 + names.length * (series.length * 14 + 9), {
    legend: legend(series.map(({ name }) => name)),
    grid: { left, right: 70, top: 34, bottom: 50 },
    xAxis: axis,
    yAxis: { type: 'category', data: [...names], inverse: true },
    series: series.map(({ name, color, data }) => ({
      type: 'bar' as const,
      name,
      ...(color === undefined ? {} : { color }),
      label: barLabel(unit),
      data: [...data],
    })),
  });
