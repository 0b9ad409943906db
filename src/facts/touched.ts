import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { inMs } from '../clickhouse/literals.ts';
import { HOUR_MS, type Span } from '../domain/time.ts';
import { sessionRows } from './compute.ts';
import { FIRST, firstText } from './session-states.ts';
import type { FactKind } from './watermarks.ts';

/*
 * A late event changes the facts of its own hour, and `prev` of what its session or its visitor did next. All other hours keep their
 * facts.
 */

/** A session lasts 24 h: what it does next lies in one of these hours. */
const SESSION_HOURS = 25;
/** For more hours, or more sessions that come next, everything from the first late hour on is sealed again. */
const MOST_HOURS = 48;

interface Late {
  readonly app: string;
  /** The late hours, in order. */
  readonly hours: readonly number[];
  readonly until: number;
  readonly dead: readonly number[];
  /** `sessions` holds all sessions of the late hours. */
  readonly isKept: boolean;
}

/** The hours below `until` whose facts change with those of `hours`, as spans in order; null where they are many. */
export async function touchedHours(db: Database, kind: FactKind, late: Late): Promise<Span[] | null> {
  if (late.hours.length > MOST_HOURS) return null;
  const hours = kind === 'page' ? hoursOfSessions(late) : await hoursOfVisitors(db, late);
  const touched = [...new Set(hours)].filter((hour) => hour < late.until).sort((a, b) => a - b);
  if (kind === 'session' && touched.length > MOST_HOURS) return null;
  const spans = asSpans(touched);
  return spans.length > MOST_HOURS ? null : spans;
}

const hoursOfSessions = ({ hours }: Late): number[] =>
  hours.flatMap((hour) => Array.from({ length: SESSION_HOURS }, (_, i) => hour + i * HOUR_MS));

/** Hours that follow each other are one span. */
function asSpans(hours: readonly number[]): Span[] {
  const spans: Span[] = [];
  for (const start of hours) {
    const last = spans.at(-1);
    if (last?.end === start) spans[spans.length - 1] = { start: last.start, end: start + HOUR_MS };
    else spans.push({ start, end: start + HOUR_MS });
  }
  return spans;
}

const NEXT: z.ZodType<{ hour: number }> = z.object({ hour: z.number() });

const FACT_ROWS = `SELECT visitor, '' AS words, started_at AS started FROM visitor_sessions
        WHERE app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)}
        UNION ALL
        SELECT visitor, arrayStringConcat([utm_source, utm_medium, utm_campaign, utm_term, utm_content], '\\0'), started_at FROM utm_facts
        WHERE app_id IN {apps:Array(UUID)} AND run NOT IN {dead:Array(UInt64)}`;

/** Sessions as they are now and as the facts have them: those that differ have changed, and so has `prev` of the next ones. */
async function hoursOfVisitors(db: Database, { app, hours, dead, isKept }: Late): Promise<number[]> {
  const spans = asSpans(hours);
  const query: Query<{ hour: number }> = {
    name: 'seal: sessions after changed ones',
    sql: `WITH
    now AS (
        SELECT
            reinterpretAsUInt128(sipHash128(${firstText('s.visitor')})) AS visitor,
            toUnixTimestamp64Milli(s.started_at) AS started,
            ${FIRST.source}[1] AS source,
            arrayStringConcat([source, ${FIRST.medium}[1], ${firstText('s.utm_campaign')}, ${firstText('s.utm_term')},
                ${firstText('s.utm_content')}], '\\0') AS words
        FROM ${sessionRows(isKept)} AS s
        WHERE app_id IN {apps:Array(UUID)} AND ${inMs('toUnixTimestamp64Milli(started_at)', spans)}
            AND started_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND started_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
        GROUP BY s.started_at, s.session),
    changed AS (
        SELECT visitor, words, started FROM
        (
            SELECT visitor, '' AS words, started, 1 AS n FROM now
            UNION ALL
            SELECT visitor, words, started, 1 FROM now WHERE source != ''
            UNION ALL
            SELECT visitor, words, started, -1 FROM (${FACT_ROWS}) WHERE ${inMs('started', spans)}
        )
        GROUP BY visitor, words, started HAVING sum(n) != 0)
SELECT DISTINCT intDiv(v.started, ${HOUR_MS}) * ${HOUR_MS} AS hour
FROM changed AS c
ASOF JOIN (SELECT * FROM (${FACT_ROWS}) WHERE visitor IN (SELECT visitor FROM changed)) AS v
    ON v.visitor = c.visitor AND v.words = c.words AND v.started > c.started
LIMIT ${MOST_HOURS + 1}`,
    row: NEXT,
  };
  const first = hours[0] ?? 0;
  const params = { apps: [app], dead, from: first, to: (hours.at(-1) ?? first) + HOUR_MS };
  const next = await db.query(query, params, { lane: 'seal' });
  return [...hours, ...next.map(({ hour }) => hour)];
}
