import type { EventRow } from '../../answers/rows.ts';
import { int, ofApp } from '../../clickhouse/literals.ts';
import { number, rowOf, text } from '../../clickhouse/row.ts';
import { quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import { mapped } from '../../domain/lists.ts';
import { DAY_MS, epochMs, type OpenRange } from '../../domain/time.ts';
import type { EventsQuestion } from '../answers/results.ts';
import { type AppFacts, closed } from '../input/app-facts.ts';
import { assertKept } from '../input/plan-events.ts';
import { eventsIn } from '../range/sql.ts';
import { COUNTED, matchingSessions } from '../segments/matching.ts';

const ROW = rowOf([text, number, number, number]);

/** SQL of the name of an event's row, and a condition that selects the events. */
function rowsOf({ type, property }: EventsQuestion): { readonly name: Sql; readonly where: Sql } {
  const ofType = sql`type = ${quoted(type)}`;
  if (property === null) return { name: sql`label`, where: ofType };
  return {
    name: sql`JSONExtractString(properties, ${quoted(property.key)})`,
    where: sql`${ofType} AND label = ${quoted(property.name)}`,
  };
}

/**
 * Clicks, errors or custom events of the range by name, or by the value of a property. A name is absent for a click without a
 * target and for an event without the property.
 */
export async function events(
  facts: AppFacts,
  range: OpenRange,
  question: EventsQuestion,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Iterable<EventRow>> {
  const whole = closed(range);
  // Names alone are in the facts of pages, visitors are not.
  assertKept(facts.extent, [whole], facts.events.horizon);
  const matching = await matchingSessions(facts);
  const { name, where } = rowsOf(question);
  // A session lasts at most 24 h.
  const sessions = matching.rows({ from: epochMs(whole.from - DAY_MS), to: whole.to }, [], [whole]);
  const statement = sql`SELECT toString(name), toInt64(count()) AS events, toInt64(uniqExact(started_at, session)) AS sessions, toInt64(uniqExact(visitor)) AS visitors FROM (${sessions}) AS s
JOIN
(
    SELECT ${name} AS name, toUnixTimestamp64Milli(e.started_at) AS started_at, session
    FROM events AS e WHERE ${ofApp(facts.app)} AND ${eventsIn([whole])} AND ${where}
) AS e USING (started_at, session)
GROUP BY name ORDER BY events DESC, name = '', name LIMIT ${int(limit)}`;
  const rows = await facts.db.list({ name: 'events', sql: statement, row: ROW }, COUNTED, matching.params);
  return mapped(rows, ([found, count, ofEvents, visitors]) => ({
    name: found === '' ? null : found,
    count,
    sessions: ofEvents,
    visitors,
  }));
}
