import { useElementSize } from '@mantine/hooks';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import { useState } from 'react';
import { labelEvery } from './labels.ts';
import { Tip } from './tip.tsx';

/** A part of each bar. Parts are stacked, the first one at the bottom. */
export interface BarPart {
  readonly name: string;
  readonly colour: 'first' | 'second' | 'bad';
  readonly values: readonly number[];
}

export interface BarChartProps {
  /** The text that a screen reader says instead of the picture. */
  readonly label: string;
  /** Of each bar: along the axis, and beside the values. */
  readonly labels: readonly { readonly short: string; readonly long: string }[];
  readonly parts: readonly BarPart[];
  readonly format: (value: number) => string;
  /** In a right-to-left language time runs to the left. */
  readonly isRtl: boolean;
  readonly height?: number;
}

const TOP = 12;
const BOTTOM = 28;
const SIDE = 46;
const OTHER_SIDE = 8;
const LABEL_WIDTH = 56;
/** Half of the longest label, which stays within the picture. */
const HALF_LABEL = 20;

/** Bars over time, drawn as SVG. The colours are those of chart.css. */
export function BarChart({ label, labels, parts, format, isRtl, height = 220 }: BarChartProps) {
  const { ref, width } = useElementSize();
  const [at, setAt] = useState<number | null>(null);
  const [start, end] = isRtl
    ? [OTHER_SIDE, Math.max(OTHER_SIDE, width - SIDE)]
    : [SIDE, Math.max(SIDE, width - OTHER_SIDE)];
  const places = labels.map((_, i) => i);
  const x = scaleBand({ domain: isRtl ? places.toReversed() : places, range: [start, end], padding: 0.2 });
  const sums = labels.map((_, i) => parts.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const y = scaleLinear({ domain: [0, Math.max(1, ...sums)], range: [height - BOTTOM, TOP], nice: 4 });
  const every = labelEvery(labels.length, end - start, LABEL_WIDTH);
  const left = (i: number): number => x(i) ?? 0;
  return (
    <div ref={ref} className="plot">
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        onPointerLeave={() => setAt(null)}
      >
        {y
          .ticks(4)
          .filter(Number.isInteger)
          .map((value) => (
            <g key={value}>
              <line className="plot-grid" x1={start} x2={end} y1={y(value)} y2={y(value)} />
              <text
                className="plot-text"
                x={isRtl ? end + 8 : start - 8}
                y={y(value)}
                dy="0.32em"
                textAnchor={isRtl ? 'start' : 'end'}
              >
                {format(value)}
              </text>
            </g>
          ))}
        {labels.map(({ short, long }, i) => (
          <g key={long}>
            {stacked(parts, i).map(({ colour, from, to }) => (
              <Bar
                key={colour}
                className={`bar-${colour}`}
                x={left(i)}
                width={x.bandwidth()}
                y={y(to)}
                height={y(from) - y(to)}
              />
            ))}
            {(labels.length - 1 - i) % every === 0 && (
              <text
                className="plot-text"
                x={within(left(i) + x.bandwidth() / 2, HALF_LABEL, width - HALF_LABEL)}
                y={height - 8}
                textAnchor="middle"
              >
                {short}
              </text>
            )}
            <Bar
              className="plot-catch"
              x={left(i)}
              width={x.bandwidth()}
              y={TOP}
              height={height - BOTTOM - TOP}
              onPointerEnter={() => setAt(i)}
              onPointerDown={() => setAt(i)}
            />
          </g>
        ))}
      </svg>
      {at !== null && (
        <Tip x={left(at) + x.bandwidth()} y={TOP} width={width} title={labels[at]?.long ?? ''}>
          {parts.map(({ name, colour, values }) => (
            <div key={name} className={`tip-row tip-${colour}`}>
              <span>{name}</span>
              <b>{format(values[at] ?? 0)}</b>
            </div>
          ))}
        </Tip>
      )}
    </div>
  );
}

const within = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

/** The parts of a bar, each on top of the one before. */
function stacked(parts: readonly BarPart[], bar: number) {
  let from = 0;
  return parts.map(({ colour, values }) => {
    const bottom = from;
    from += values[bar] ?? 0;
    return { colour, from: bottom, to: from };
  });
}
