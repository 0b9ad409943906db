import type { ReactNode } from 'react';

const WIDTH = 190;
const GAP = 12;

/** The values under the pointer, beside it and within the chart. A table has the same for everybody else. */
export function Tip({
  x,
  y,
  width,
  title,
  children,
}: {
  readonly x: number;
  readonly y: number;
  /** Of the chart. */
  readonly width: number;
  readonly title: string;
  readonly children: ReactNode;
}) {
  const isAfter = x + GAP + WIDTH <= width;
  const left = isAfter ? x + GAP : Math.max(0, x - GAP - WIDTH);
  return (
    <div className="tip" aria-hidden="true" style={{ left, top: y, width: WIDTH }}>
      <div className="tip-title">{title}</div>
      {children}
    </div>
  );
}
