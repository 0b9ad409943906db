import { inSpans, int, ofApp } from '../../clickhouse/literals.ts';
import { identifier, join, sql } from '../../clickhouse/sql.ts';
import { HOUR_MS, hourOf, type Span } from '../../domain/time.ts';
import type { PageFacts } from '../input/app-facts.ts';
import { keptRows, type Row } from '../memory/rows.ts';
import { boundsOf, type Grid, sliceOf } from '../range/grid.ts';
import { inAnyHour } from '../range/sql.ts';
import { EVENT_SUM_NAMES, HOURS, type HoursOf, hourAt, SUMS_OF_TRAFFIC, sealedSums } from './traffic.ts';

/* The table `event_quarters`: sealed events by quarter hour. */

const QUARTER_MS = HOUR_MS / 4;

/**
 * Returns the sums, by slice, of the quarters in the range, of the hours for which quarters answer; and the other hours. Those
 * are not sealed, have late events, are cut inside a quarter, or were sealed by an earlier version, without quarters: then
 * `traffic` has other sums. `hours`: of `traffic`, in order.
 */
export async function quarterSums(
  pages: PageFacts,
  grid: Grid,
  of: HoursOf,
  hours: readonly Span[],
): Promise<{ readonly rows: readonly Row[]; readonly others: readonly Span[] }> {
  const isCut = new Set(
    boundsOf(grid)
      .filter((at) => at % QUARTER_MS !== 0)
      .map((at) => hourAt(at, of)),
  );
  const late = new Set(pages.lateHours.map(({ hour }) => hour));
  const isLate = ({ start, end }: Span): boolean => late.has(hourOf(start)) || late.has(hourOf(end - 1));
  const possible = hours.filter((hour) => hour.end <= pages.until && !isCut.has(hour.start) && !isLate(hour));
  if (possible.length === 0) return { rows: [], others: hours };
  const { whole, quarters } = await read(pages, of, possible);
  const isRight = new Set(
    possible.filter(({ start }) =>
      isSum(
        whole.get(start),
        inHour(start).map((at) => quarters.get(at)),
      ),
    ),
  );
  const rows = [...isRight].flatMap(({ start }) =>
    inHour(start).flatMap((at): Row[] => {
      const sums = at < grid.from || at > grid.to ? undefined : quarters.get(at);
      return sums === undefined ? [] : [[`${sliceOf(grid, at)}`, ...sums]];
    }),
  );
  return { rows, others: hours.filter((hour) => !isRight.has(hour)) };
}

const inHour = (start: number): number[] => [0, 1, 2, 3].map((n) => start + n * QUARTER_MS);

type Sums = ReadonlyMap<number, readonly number[]>;

const isSum = (whole: readonly number[] = [], parts: readonly (readonly number[] | undefined)[]): boolean =>
  EVENT_SUM_NAMES.every((_, i) => (whole[i] ?? 0) === parts.reduce((sum, part) => sum + (part?.[i] ?? 0), 0));

/** Reads the sums of these hours and of their quarters. */
async function read(
  { db, where, cache, events }: PageFacts,
  of: HoursOf,
  hours: readonly Span[],
): Promise<{ readonly whole: Sums; readonly quarters: Sums }> {
  const at = sql`toString(toUnixTimestamp(bucket) * 1000) AS at`;
  const span = {
    start: Math.min(...hours.map(({ start }) => start)),
    end: Math.max(...hours.map(({ end }) => end)),
  };
  const isListed = (span.end - span.start) / HOUR_MS > hours.length;
  const within = sql`${inSpans(sql`bucket`, [span])}${isListed ? sql` AND ${inAnyHour(sql`toUnixTimestamp(bucket) * 1000`, hours)}` : sql``}`;
  const rows = await Promise.all([
    sealedSums(
      events,
      hours,
      'hours, sums of events',
      sql`SELECT ${at}, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(events.app)} AND grain = ${int(HOURS[of].code)} AND ${within} GROUP BY bucket`,
    ),
    keptRows(
      db,
      cache,
      'quarters, sums of events',
      sql`SELECT ${at}, ${join(EVENT_SUM_NAMES.map((name) => sql`sum(q.${identifier(name)})`))} FROM event_quarters AS q
WHERE ${where} AND ${within} GROUP BY bucket`,
    ),
  ]);
  const [whole, quarters] = rows.map(
    (own): Sums => new Map(own.map(([start, ...sums]) => [Number(start), sums])),
  ) as [Sums, Sums];
  return { whole, quarters };
}
