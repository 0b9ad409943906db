import { curveMonotoneX } from '@visx/curve';
import { scaleLinear } from '@visx/scale';
import { AreaClosed, LinePath } from '@visx/shape';

const WIDTH = 120;
const HEIGHT = 32;
const EDGE = 3;

/** A small line without axes. The figure beside it says the value, so it is hidden from screen readers. */
export function Sparkline({
  values,
  isLastPartial,
  isRtl,
}: {
  readonly values: readonly (number | null)[];
  /** The last value is of a time that is not over, so the line to it is dotted. */
  readonly isLastPartial: boolean;
  readonly isRtl: boolean;
}) {
  const data = values.flatMap((value, i) => (value === null ? [] : [{ i, value }]));
  const last = data.at(-1);
  if (last === undefined)
    return <svg className="sparkline" aria-hidden="true" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} />;
  const ends = [EDGE, WIDTH - EDGE];
  const x = scaleLinear({
    domain: [0, Math.max(1, values.length - 1)],
    range: isRtl ? ends.reverse() : ends,
  });
  const y = scaleLinear({
    domain: [0, Math.max(...data.map(({ value }) => value)) || 1],
    range: [HEIGHT - EDGE, EDGE],
  });
  const isParted = isLastPartial && data.length > 1;
  const whole = isParted ? data.slice(0, -1) : data;
  const line = {
    x: ({ i }: { i: number }) => x(i),
    y: ({ value }: { value: number }) => y(value),
    curve: curveMonotoneX,
  };
  return (
    <svg
      className="sparkline"
      aria-hidden="true"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <AreaClosed {...line} data={whole} yScale={y} className="area-first" />
      <LinePath
        {...line}
        data={whole}
        className={data.length === 1 ? 'line-first line-alone' : 'line-first'}
        vectorEffect="non-scaling-stroke"
      />
      {isParted && (
        <LinePath
          {...line}
          data={data.slice(-2)}
          className="line-partial"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  );
}
