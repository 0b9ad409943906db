import { bucket, ofApp } from '../clickhouse/literals.ts';
import { identifier, join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { floorTo, HOUR_MS, type Range } from '../domain/time.ts';

/*
 * Bands: the events of each kind in an app's hours from one bound to the next. A sum for each of twelve polled ranges
 * takes the engine five times as long as one sum by band, nearly all of it for planning the statement.
 */

/** The events of a kind in the hours of one band. */
export interface Band {
  readonly kind: string;
  /** The start of the band, epoch ms. Its end is the next bound. */
  readonly start: number;
  readonly events: number;
  /** The results of `more`. */
  readonly more: readonly number[];
}

/**
 * SQL of a row for each band: a name, which is that of the table with the kind, and numbers. The table has the columns
 * `kind`, `hour` and `events`. `bounds` are starts of hours, epoch ms. `more` are further aggregates of rows of the
 * table AS h, as Int64.
 */
export function bandRows(
  table: string,
  app: AppId,
  bounds: readonly number[],
  more: readonly Sql[] = [],
): Sql {
  const starts = new Set([0, ...bounds].sort((a, b) => a - b).map(bucket));
  const numbers = [sql`toInt64(band) * 1000`, sql`toInt64(sum(h.events))`, ...more];
  return sql`SELECT concat(${quoted(`${table} `)}, toString(h.kind)), [${join(numbers)}] FROM ${identifier(table)} AS h
WHERE ${ofApp(app)} GROUP BY h.kind, roundDown(toUnixTimestamp(h.hour), [${join([...starts])}]) AS band`;
}

/** Takes the rows of the table apart. Other rows are left out. */
export const bandsOf = (
  table: string,
  rows: readonly (readonly [name: string, numbers: readonly number[]])[],
): Band[] =>
  rows.flatMap(([name, [start = 0, events = 0, ...more]]) =>
    name.startsWith(`${table} `) ? { kind: name.slice(table.length + 1), start, events, more } : [],
  );

/** The bounds of the hours that contain some of the range. */
export const boundsOf = ({ from, to }: Range): readonly [from: number, to: number] => [
  floorTo(from, HOUR_MS),
  floorTo(to, HOUR_MS) + HOUR_MS,
];

/** Sums the events of a kind in hours from `from` up to `to`, both among the bounds (epoch ms). */
export const eventsBetween = (bands: readonly Band[], kind: string, from: number, to: number): number =>
  bands.reduce(
    (sum, band) => (band.kind === kind && band.start >= from && band.start < to ? sum + band.events : sum),
    0,
  );
