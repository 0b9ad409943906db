import { useElementSize } from '@mantine/hooks';
import { curveMonotoneX } from '@visx/curve';
import { scaleLinear, scalePoint } from '@visx/scale';
import { AreaClosed, LinePath } from '@visx/shape';
import { type PointerEvent, useState } from 'react';
import { labelEvery } from './labels.ts';
import { Tip } from './tip.tsx';

export interface Series {
  readonly name: string;
  /** One value per label; null where nothing is known yet. */
  readonly values: readonly (number | null)[];
  /** The last value is of a shorter time than the others, so the line to it is dotted. */
  readonly isLastPartial?: boolean;
}

export interface LineChartProps {
  /** The text that a screen reader says instead of the picture. */
  readonly label: string;
  /** Along the axis, and beside the values. */
  readonly labels: readonly { readonly short: string; readonly long: string }[];
  readonly current: Series;
  readonly previous: Series | null;
  readonly format: (value: number) => string;
  readonly tick: (value: number) => string;
  readonly isRtl: boolean;
}

const HEIGHT = 260;
const TOP = 12;
const BOTTOM = 28;
const SIDE = 46;
const OTHER_SIDE = 26;
const LABEL_WIDTH = 64;

/** A line over time, with that of the period before. In a right-to-left language time runs to the left. */
export function LineChart({ label, labels, current, previous, format, tick, isRtl }: LineChartProps) {
  const { ref, width } = useElementSize();
  const [at, setAt] = useState<number | null>(null);
  const last = Math.max(width - OTHER_SIDE, SIDE + 1);
  const x = scalePoint({
    domain: labels.map((_, i) => i),
    range: isRtl ? [width - SIDE, OTHER_SIDE] : [SIDE, last],
  });
  const known = [...current.values, ...(previous?.values ?? [])].filter((value) => value !== null);
  const y = scaleLinear({
    domain: [0, Math.max(1, ...known)],
    range: [HEIGHT - BOTTOM, TOP],
    nice: 4,
  });
  const place = (i: number): number => x(i) ?? 0;
  const seek = (event: PointerEvent<SVGSVGElement>): void => {
    const pointer = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const nearest = labels
      .map((_, i) => i)
      .sort((a, b) => Math.abs(place(a) - pointer) - Math.abs(place(b) - pointer));
    setAt(nearest[0] ?? null);
  };
  const every = labelEvery(labels.length, width - SIDE - OTHER_SIDE, LABEL_WIDTH);
  const { whole, partial } = parted(current);
  const shown = at !== null && at < labels.length ? at : null;
  return (
    <div ref={ref} className="plot">
      <svg
        role="img"
        aria-label={label}
        width={width}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        height={HEIGHT}
        onPointerMove={seek}
        onPointerDown={seek}
        onPointerLeave={() => setAt(null)}
      >
        {y
          .ticks(4)
          .filter(Number.isInteger)
          .map((value) => (
            <g key={value}>
              <line
                className="plot-grid"
                x1={isRtl ? OTHER_SIDE : SIDE}
                x2={isRtl ? width - SIDE : last}
                y1={y(value)}
                y2={y(value)}
              />
              <text
                className="plot-text"
                x={isRtl ? width - SIDE + 8 : SIDE - 8}
                y={y(value)}
                dy="0.32em"
                textAnchor={isRtl ? 'start' : 'end'}
              >
                {tick(value)}
              </text>
            </g>
          ))}
        {labels.map(({ short, long }, i) =>
          (labels.length - 1 - i) % every === 0 ? (
            <text key={long} className="plot-text" x={place(i)} y={HEIGHT - 8} textAnchor="middle">
              {short}
            </text>
          ) : null,
        )}
        {shown !== null && (
          <line className="plot-cursor" x1={place(shown)} x2={place(shown)} y1={TOP} y2={HEIGHT - BOTTOM} />
        )}
        {previous !== null && <Line points={points(previous)} x={place} y={y} className="line-second" />}
        <AreaClosed
          data={whole}
          x={({ i }) => place(i)}
          y={({ value }) => y(value)}
          yScale={y}
          curve={curveMonotoneX}
          className="area-first"
        />
        <Line points={whole} x={place} y={y} className="line-first" />
        <Line points={partial} x={place} y={y} className="line-partial" />
        {points(current).map(({ i, value }, _, all) =>
          i === shown || all.length === 1 ? (
            <circle key={i} className="point-first" cx={place(i)} cy={y(value)} r={4} />
          ) : null,
        )}
      </svg>
      {shown !== null && (
        <Tip x={place(shown)} y={TOP} width={width} title={labels[shown]?.long ?? ''}>
          <Row kind="first" series={current} at={shown} format={format} />
          {previous !== null && <Row kind="second" series={previous} at={shown} format={format} />}
        </Tip>
      )}
    </div>
  );
}

interface Point {
  readonly i: number;
  readonly value: number;
}

const points = ({ values }: Series): Point[] =>
  values.flatMap((value, i) => (value === null ? [] : [{ i, value }]));

/** The points of whole times, and the last two if the last one is of a partial time. */
function parted(series: Series): { readonly whole: Point[]; readonly partial: Point[] } {
  const all = points(series);
  if (series.isLastPartial !== true || all.length < 3) return { whole: all, partial: [] };
  return { whole: all.slice(0, -1), partial: all.slice(-2) };
}

function Line({
  points,
  x,
  y,
  className,
}: {
  readonly points: Point[];
  readonly x: (i: number) => number;
  readonly y: (value: number) => number;
  readonly className: string;
}) {
  return (
    <LinePath
      data={points}
      x={({ i }) => x(i)}
      y={({ value }) => y(value)}
      curve={curveMonotoneX}
      className={className}
    />
  );
}

function Row({
  kind,
  series,
  at,
  format,
}: {
  readonly kind: 'first' | 'second';
  readonly series: Series;
  readonly at: number;
  readonly format: (value: number) => string;
}) {
  const value = series.values[at];
  return (
    <div className={`tip-row tip-${kind}`}>
      <span>{series.name}</span>
      <b>{value === null || value === undefined ? '–' : format(value)}</b>
    </div>
  );
}
