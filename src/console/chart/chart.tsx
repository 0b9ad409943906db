import type { ECharts, EChartsCoreOption } from 'echarts/core';
import { useEffect, useRef } from 'react';
import { useColours } from './colours.ts';
import { init } from './echarts.ts';

export interface ChartProps {
  readonly option: EChartsCoreOption;
  /** What a screen reader says instead of the picture. */
  readonly label: string;
  readonly height?: number;
  readonly onClick?: (event: { readonly dataIndex: number; readonly name: string }) => void;
}

/**
 * Draws with ECharts on a canvas, as wide as its place. The policy of the page forbids style attributes in markup, so a
 * tooltip is `renderMode: 'richText'`, which is the default here, or an element made by its formatter.
 */
export function Chart({ option, label, height = 260, onClick }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts>(null);
  const colours = useColours();
  useEffect(() => {
    if (place.current === null) return;
    const made = init(place.current, null, { renderer: 'canvas' });
    chart.current = made;
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(place.current);
    return () => {
      observer.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    const { tooltip } = option as { readonly tooltip?: object };
    chart.current?.setOption(
      {
        animation: false,
        backgroundColor: 'transparent',
        textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colours.text },
        ...option,
        ...(tooltip === undefined ? {} : { tooltip: { renderMode: 'richText', confine: true, ...tooltip } }),
      },
      { notMerge: true },
    );
  }, [option, colours]);
  useEffect(() => {
    const { current } = chart;
    if (current === null || onClick === undefined) return;
    current.on('click', onClick as never);
    return () => {
      current.off('click', onClick as never);
    };
  }, [onClick]);
  return (
    <div className="chart" role="img" aria-label={label}>
      <div ref={place} style={{ height }} />
    </div>
  );
}
