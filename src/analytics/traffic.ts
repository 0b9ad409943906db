import { number, rowOf } from '../clickhouse/row.ts';
import { identifier, join, sql } from '../clickhouse/sql.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { EventFacts } from './ask.ts';
import { EVENT_SUMS } from './figures.ts';
import type { Span } from './plan.ts';
import { bucket, int, isEmpty, ofApp } from './sql.ts';

/* The table `traffic`: sums of events by hour and day. A view keeps them current to the last event. */

export type EventSum = keyof typeof EVENT_SUMS;
export const EVENT_SUM_NAMES = Object.keys(EVENT_SUMS) as EventSum[];

/** SQL of the sums over rows of `traffic AS t`. */
export const SUMS_OF_TRAFFIC = join(EVENT_SUM_NAMES.map((name) => sql`sum(t.${identifier(name)})`));

/** Hours of UTC and of Tehran: their code in `traffic`, and how long they begin before those of UTC. */
const HOURS = { utc: { code: 1, earlierMs: 0 }, tehran: { code: 3, earlierMs: HOUR_MS / 2 } } as const;
type HoursOf = keyof typeof HOURS;

/** The start of the first hour that is not sealed as a whole, epoch ms. */
export const firstUnsealed = ({ until }: EventFacts, of: HoursOf): number => until - HOURS[of].earlierMs;

/** The sums of an hour. `at` is its start, epoch ms. */
export interface TrafficHour {
  readonly at: number;
  readonly sums: readonly number[];
}

const ROW = rowOf([number, number], number);

/** Returns the unsealed hours of these spans. One statement reads them for all questions about a version. */
export async function unsealedHours(
  { db, app, until, version, live }: EventFacts,
  of: HoursOf,
  spans: readonly Span[],
): Promise<readonly TrafficHour[]> {
  if (spans.every(isEmpty)) return [];
  const codes = join(Object.values(HOURS).map(({ code }) => int(code)));
  const rows = await live.latest(
    `traffic ${app}`,
    version,
    () =>
      db.rows({
        name: 'unsealed traffic',
        sql: sql`SELECT toUInt8(grain), toUnixTimestamp(bucket) * 1000, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(app)} AND grain IN (${codes}) AND bucket >= ${bucket(until - HOURS.tehran.earlierMs)} GROUP BY grain, bucket`,
        row: ROW,
      }),
    (read) => read.length * (2 + EVENT_SUM_NAMES.length),
  );
  return rows.flatMap(([code, at, ...sums]) =>
    code === HOURS[of].code && spans.some(({ start, end }) => at >= start && at < end) ? { at, sums } : [],
  );
}
