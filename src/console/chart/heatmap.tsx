import { useElementSize } from '@mantine/hooks';
import { scaleLinear } from '@visx/scale';
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { labelEvery } from './labels.ts';
import { Tip } from './tip.tsx';

export interface HeatmapRow {
  readonly name: string;
  /** The name at length, for a tip. */
  readonly longName: string;
  /** 24 values; null for hours to come. */
  readonly values: readonly (number | null)[];
}

export interface HeatmapProps {
  /** The text that a screen reader says instead of the picture. */
  readonly label: string;
  readonly rows: readonly HeatmapRow[];
  readonly hour: (hour: number) => string;
  /** From one hour to the next, for a tip. */
  readonly span: (hour: number) => string;
  /** The texts at the ends of the scale of colours: nothing, and the most. */
  readonly scale: readonly [low: string, high: string];
  /** Returns the text of a cell's tip. */
  readonly describe: (row: number, hour: number) => string;
  readonly isRtl: boolean;
}

const ROW = 30;
const TOP = 22;
const GAP = 2;
const LABEL_WIDTH = 30;
/** Between a row's name and its cells. */
const NAME_GAP = 8;

/** Days downwards, hours of the day across, from the right in a right-to-left language. */
export function Heatmap({ label, rows, hour, span, scale, describe, isRtl }: HeatmapProps) {
  const { ref, width } = useElementSize();
  const [at, setAt] = useState<{ readonly row: number; readonly hour: number } | null>(null);
  const names = useRef<SVGGElement>(null);
  const side = Math.ceil(useLongest(names)) + NAME_GAP;
  const cell = Math.max(1, (width - side) / 24);
  const most = Math.max(0, ...rows.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const left = (i: number): number => (isRtl ? width - side - (i + 1) * cell : side + i * cell);
  const every = labelEvery(24, width - side, LABEL_WIDTH);
  const hours = Array.from({ length: 24 }, (_, i) => i);
  return (
    <div ref={ref} className="plot">
      <svg
        role="img"
        aria-label={label}
        width={width}
        viewBox={`0 0 ${width} ${TOP + rows.length * ROW}`}
        height={TOP + rows.length * ROW}
        onPointerLeave={() => setAt(null)}
      >
        {hours.map((i) =>
          i % every === 0 ? (
            <text key={i} className="plot-text" x={left(i) + cell / 2} y={13} textAnchor="middle">
              {hour(i)}
            </text>
          ) : null,
        )}
        <g ref={names}>
          {rows.map(({ name }, row) => (
            <text
              key={name}
              className="plot-text"
              x={isRtl ? width - side + NAME_GAP : side - NAME_GAP}
              y={TOP + row * ROW + ROW / 2}
              dy="0.32em"
              textAnchor={isRtl ? 'start' : 'end'}
            >
              {name}
            </text>
          ))}
        </g>
        {rows.map(({ name, values }, row) =>
          values.map((value, i) => (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: the place is the hour.
              key={`${name} ${i}`}
              className={value === null ? 'heat-none' : 'heat'}
              x={left(i) + GAP / 2}
              y={TOP + row * ROW + GAP / 2}
              width={Math.max(1, cell - GAP)}
              height={ROW - GAP}
              rx={3}
              style={value === null ? undefined : { fill: shade(value, most) }}
              onPointerEnter={() => setAt({ row, hour: i })}
              onPointerDown={() => setAt({ row, hour: i })}
            />
          )),
        )}
      </svg>
      {at !== null && (
        <Tip
          x={left(at.hour) + cell}
          y={Math.max(0, TOP + (at.row - 1) * ROW)}
          width={width}
          title={`${rows[at.row]?.longName ?? ''}, ${span(at.hour)}`}
        >
          <div>{describe(at.row, at.hour)}</div>
        </Tip>
      )}
      <Legend scale={scale} />
    </div>
  );
}

const STEPS = [0, 0.1, 0.3, 0.6, 1];

/** What the colours mean. */
const Legend = ({ scale: [low, high] }: Pick<HeatmapProps, 'scale'>) => (
  <div className="heat-legend">
    <span>{low}</span>
    {STEPS.map((step) => (
      <span key={step} className="heat-step" style={{ background: shade(step, 1) }} />
    ))}
    <span>{high}</span>
  </div>
);

/** The width of the longest text in a group: names of days are long in some languages, and short in others. */
function useLongest(group: RefObject<SVGGElement | null>): number {
  const [longest, setLongest] = useState(0);
  // After each drawing, because other rows and another language have other names.
  useLayoutEffect(() => {
    const texts = Array.from(group.current?.querySelectorAll('text') ?? []);
    setLongest(Math.max(0, ...texts.map((text) => text.getComputedTextLength())));
  });
  return longest;
}

/** The share of the strong colour, by the square root, so that quiet hours can be told apart. */
const strength = scaleLinear({ domain: [0, 1], range: [6, 100] });

function shade(value: number, most: number): string {
  const part = most === 0 ? 0 : Math.sqrt(value / most);
  return `color-mix(in oklab, var(--heat-high) ${strength(part).toFixed(1)}%, var(--heat-low))`;
}
