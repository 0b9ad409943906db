import { dateTime, dateTime64 } from '../clickhouse/database.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import type { Span } from '../clickhouse/underway.ts';
import type { HourCount } from '../domain/hour-count.ts';
import { extentOf, hourOf } from '../domain/time.ts';
import type { ValidSession } from './validate.ts';
import type { ValidEvent } from './validate-event.ts';

/** A session, with the times of its events. */
interface Times extends Pick<ValidSession, 'startedAt'> {
  readonly events: readonly Pick<ValidEvent, 'timestamp'>[];
}

/** Returns the hours of a batch. Some hours are repeated. */
export function hoursOf(app: string, sessions: readonly Times[]): HourCount[] {
  const hours: HourCount[] = [];
  for (const { startedAt, events } of sessions) {
    const times = events.map(({ timestamp }) => timestamp);
    const { from, to: lastEvent } = extentOf(times);
    const count = { app, events: times.length, lastEvent };
    hours.push({ ...count, kind: 'session', hour: hourOf(startedAt), oldest: startedAt, newest: startedAt });
    if (hourOf(from) === hourOf(lastEvent)) {
      hours.push({ ...count, kind: 'event', hour: hourOf(from), oldest: from, newest: lastEvent });
    } else {
      for (const at of times) {
        hours.push({
          app,
          kind: 'event',
          hour: hourOf(at),
          events: 1,
          oldest: at,
          newest: at,
          lastEvent: at,
        });
      }
    }
  }
  return hours;
}

/** Merges the counts, so that each of an app's hours is there once. */
export function mergedHours(hours: readonly HourCount[]): HourCount[] {
  const merged = new Map<string, HourCount>();
  for (const hour of hours) {
    const key = `${hour.app} ${hour.kind} ${hour.hour}`;
    const known = merged.get(key);
    merged.set(key, known === undefined ? hour : both(known, hour));
  }
  return [...merged.values()];
}

const both = (one: HourCount, other: HourCount): HourCount => ({
  ...one,
  events: one.events + other.events,
  oldest: Math.min(one.oldest, other.oldest),
  newest: Math.max(one.newest, other.newest),
  lastEvent: Math.max(one.lastEvent, other.lastEvent),
});

/** Returns the spans of time that hold the events of these hours. */
export function spansOf(hours: readonly HourCount[]): Span[] {
  const byApp = new Map<string, Record<HourCount['kind'], number[]>>();
  for (const { app, kind, oldest, newest } of hours) {
    const times = byApp.get(app) ?? { event: [], session: [] };
    times[kind].push(oldest, newest);
    byApp.set(app, times);
  }
  return [...byApp].map(([app, { event, session }]) => ({
    app,
    events: extentOf(event),
    sessions: extentOf(session),
  }));
}

/** Formats rows of `ledger` as JSON lines. */
export const ledgerLines = (hours: readonly HourCount[]): string =>
  hours
    .map(({ app, kind, hour, events, oldest, newest, lastEvent }) =>
      JSON.stringify({
        app_id: app,
        kind,
        hour: dateTime(hour),
        events,
        oldest: dateTime64(oldest),
        newest: dateTime64(newest),
        last_event: dateTime64(lastEvent),
      }),
    )
    .join('\n');

export const LEDGER_COLUMNS = ['app_id', 'kind', 'hour', 'events', 'oldest', 'newest', 'last_event'];
export const BEGUN_COLUMNS = ['app_id', 'kind', 'hour', 'events'];

/** Selects the same counts in the store. `events` selects app_id, started_at and timestamp of each event. */
const perHour = (events: Sql, columns: Sql): Sql => sql`
  SELECT app_id, slice.1 AS kind, toDateTime(toStartOfHour(slice.2, 'UTC'), 'UTC') AS hour, ${columns}
  FROM (${events})
  ARRAY JOIN [
    (CAST('event', 'Enum8(\\'event\\' = 1, \\'session\\' = 2)'), timestamp),
    ('session', started_at)
  ] AS slice
  GROUP BY app_id, kind, hour`;

/** Selects the rows of `ledger`, for LEDGER_COLUMNS. */
export const ledgerRows = (events: Sql): Sql =>
  perHour(events, sql`count(), min(slice.2), max(slice.2), max(timestamp)`);

/** The bounds of no event: every other bound is beyond them. */
const NO_BOUNDS = {
  oldest: sql`toDateTime64('2299-12-31 23:59:59.999', 3, 'UTC')`,
  newest: sql`toDateTime64('1970-01-01 00:00:00', 3, 'UTC')`,
};

/** Selects rows of `ledger` that take these events out of the counts. Sums wrap; bounds stay as they are. */
export const ledgerDeletionRows = (events: Sql): Sql =>
  perHour(
    events,
    sql`toUInt64(-toInt64(count())), ${NO_BOUNDS.oldest}, ${NO_BOUNDS.newest}, ${NO_BOUNDS.newest}`,
  );

/**
 * Sets the bounds of rows of `ledger` to those of these events. Rows of hours that do not meet the condition get the
 * bounds of no event.
 */
export function ledgerBounds(events: Sql, hours: Sql): Sql {
  const key = (kind: Sql, hour: Sql): Sql =>
    sql`toUInt64(toUnixTimestamp(${hour})) * 2 + toUInt8(${kind} = 'event')`;
  const all = sql`(SELECT (groupArray(${key(sql`kind`, sql`hour`)}), groupArray(oldest), groupArray(newest), groupArray(last_event)) FROM
    (${perHour(events, sql`min(slice.2) AS oldest, max(slice.2) AS newest, max(timestamp) AS last_event`)}) WHERE ${hours})`;
  const change = (column: Sql, place: number, none: Sql): Sql =>
    sql`${column} = arrayConcat([${none}], ${all}.${place})[indexOf(${all}.1, ${key(sql`kind`, sql`hour`)}) + 1]`;
  const [oldest, newest, last] = [
    change(sql`oldest`, 2, NO_BOUNDS.oldest),
    change(sql`newest`, 3, NO_BOUNDS.newest),
    change(sql`last_event`, 4, NO_BOUNDS.newest),
  ];
  return sql`${oldest}, ${newest}, ${last}`;
}

/** Selects the rows of `ingest_begun`, for BEGUN_COLUMNS. `{sign:Int8}` is 1, or -1 to take the rows back. */
export const begunRows = (events: Sql): Sql => perHour(events, sql`{sign:Int8} * toInt64(count())`);
