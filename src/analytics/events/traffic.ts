import { bucket, int, ofApp } from '../../clickhouse/literals.ts';
import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import { floorTo, HOUR_MS, isWithin, type Span } from '../../domain/time.ts';
import { EVENT_SUMS } from '../answers/sums.ts';
import type { EventFacts } from '../input/app-facts.ts';
import { keptRows, ROW, type Row } from '../memory/rows.ts';
import { isEmpty } from '../range/sql.ts';

/* The table `traffic`: sums of events by hour and day. A view keeps them current to the last event. */

export type EventSum = keyof typeof EVENT_SUMS;
export const EVENT_SUM_NAMES = Object.keys(EVENT_SUMS) as EventSum[];

/** SQL of the sums over rows of `traffic AS t`. */
export const SUMS_OF_TRAFFIC = join(EVENT_SUM_NAMES.map((name) => sql`sum(t.${identifier(name)})`));

/**
 * The hours of UTC and of Tehran. `code`: in `traffic`. `earlierMs`: how much earlier than UTC's they begin.
 */
export const HOURS = {
  utc: { code: 1, earlierMs: 0 },
  tehran: { code: 3, earlierMs: HOUR_MS / 2 },
} as const;
export type HoursOf = keyof typeof HOURS;

/**
 * The times for which Tehran's hours answer. Before 1980, some began at whole hours of UTC. The hour of the first events of 1970
 * began before 1970, and the column cannot hold its start: the sums stand in February 2106.
 */
export const HALF_HOURS = { from: Date.UTC(1980, 0, 1), to: Date.UTC(2106, 0, 1) - 1 } as const;

/** The start of the hour that contains `at`, epoch ms. */
export const hourAt = (at: number, of: HoursOf): number =>
  floorTo(at + HOURS[of].earlierMs, HOUR_MS) - HOURS[of].earlierMs;

/** The sums of an hour. `at` is its start, epoch ms. */
interface TrafficHour {
  readonly at: number;
  readonly sums: readonly number[];
}

/** Returns the sums of sealed hours, which lie in the spans. They are kept until one of these hours gets a late event. */
export const sealedSums = (
  { db, of }: EventFacts,
  spans: readonly Span[],
  name: string,
  statement: Sql,
): Promise<readonly Row[]> => keptRows(db, of(spans), name, statement);

/** Returns the unsealed hours of these spans. One statement reads them for all questions about a version. */
export async function unsealedHours(
  { db, app, until, version, live }: EventFacts,
  of: HoursOf,
  spans: readonly Span[],
): Promise<readonly TrafficHour[]> {
  if (spans.every(isEmpty)) return [];
  const first = until - HOURS.tehran.earlierMs;
  const codes = join(Object.values(HOURS).map(({ code }) => int(code)));
  const rows = await live.latest(
    `traffic ${app}`,
    version,
    () =>
      db.rows({
        name: 'unsealed traffic',
        sql: sql`SELECT concat(toString(toUInt8(grain)), ' ', toString(toUnixTimestamp(bucket) * 1000)) AS hour, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(app)} AND grain IN (${codes}) AND bucket >= ${bucket(first)} GROUP BY grain, bucket`,
        row: ROW,
      }),
    (read) => read.length * (1 + EVENT_SUM_NAMES.length),
  );
  return rows.flatMap(([key, ...sums]) => {
    const [code, at = 0] = key.split(' ').map(Number);
    return code === HOURS[of].code && isWithin(spans, at) ? { at, sums } : [];
  });
}
