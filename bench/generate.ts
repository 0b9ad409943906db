import { z } from 'zod';
import type { Database, Params } from '../src/clickhouse/database.ts';
import { identifier, join, type Sql, sql, unchecked } from '../src/clickhouse/sql.ts';
import { DAY_MS } from '../src/domain/time.ts';
import { commitEvents } from '../test/support/ledger.ts';
import { BIG_APP, beginning, NOW, type Shape, SMALL_APPS, sizes } from './shape.ts';
import { VOCABULARY } from './vocabulary.ts';

/**
 * Selects the sessions. The engine makes the events itself from numbers and their hashes, so every run of a
 * shape makes the same events. `g` numbers the sessions. Every third session brings a new visitor; the others
 * return, mostly soon.
 */
const sessionsSql = (appSql: Sql, startSql: Sql): Sql => sql`
    SELECT
        g,
        ${appSql} AS app,
        ${startSql} AS start,
        toString(reinterpretAsUUID(sipHash128(app, g, 9))) AS session,
        sipHash64(g, 1) AS h1,
        sipHash64(g, 2) AS h2,
        if(g % 3 = 0, toInt64(intDiv(g, 3)), if(h1 % 10 = 0,
            toInt64((h2 % greatest(intDiv({visitors:UInt64}, 100), 1)) * 100),
            toInt64(intDiv(g, 3) * (1 - pow((h2 % 1000000) / 1000000, 3))))) AS visitor,
        sipHash64(app, visitor, 3) AS v1,
        sipHash64(app, visitor, 4) AS v2,
        {pageviewCounts:Array(UInt16)}[g % 20 + 1] AS views,
        arrayCumSum(arrayMap(
            k -> if(k = 0, 0, 3000 + toUInt64(-log(1 - (sipHash64(g, k, 5) % 1000000) / 1000000) * 38000)
                + if(sipHash64(g, k, 6) % 100 = 0, sipHash64(g, k, 7) % 1500000, 0)),
            range(views))) AS offsets
    FROM (SELECT number + {first:UInt64} AS g FROM numbers({count:UInt64}))`;

/**
 * A rank from 1 to `ranks` by Zipf's law (the logarithm of the rank is uniform), from a hash. 1 is the most
 * frequent.
 */
const zipf = (hash: Sql, ranks: number): Sql =>
  sql`least(toUInt32(floor(pow(${ranks + 1}, (${hash} % 1000000) / 1000000))), ${ranks})`;

const word = (list: string, index: Sql): Sql => sql`{${identifier(list)}:Array(String)}[${index}]`;
const drawn = (list: string, hash: Sql): Sql =>
  word(list, sql`${hash} % length({${identifier(list)}:Array(String)}) + 1`);

/** Names and numbers of the context. Only a session's first event has them, as ingestion writes them. */
const TEXTS: Readonly<Record<string, Sql>> = {
  visitor_id: sql`toString(reinterpretAsUUID(sipHash128(app, visitor, 11)))`,
  user_agent: sql`concat('Mozilla/5.0 (', ${word('systems', sql`tech`)}, ') ', ${word('browsers', sql`tech`)}, '/', toString(100 + intDiv(v2, 1000) % 20), '.0')`,
  browser: word('browsers', sql`tech`),
  os: word('systems', sql`tech`),
  device: word('devices', sql`tech`),
  language: drawn('languages', sql`intDiv(v1, 1000)`),
  screen: sql`if(${word('devices', sql`tech`)} = 'desktop', ${drawn('desktopScreens', sql`intDiv(v1, 777)`)}, ${drawn('mobileScreens', sql`intDiv(v1, 777)`)})`,
  referrer: sql`if(referred, concat('https://', ${word('referrers', sql`referrer_at`)}, '/'), '')`,
  referrer_host: sql`if(referred, ${word('referrers', sql`referrer_at`)}, '')`,
  utm_source: sql`if(tagged, ${word('sources', sql`utm`)}, '')`,
  utm_medium: sql`if(tagged, ${word('mediums', sql`utm`)}, '')`,
  utm_campaign: sql`if(tagged, ${word('campaigns', sql`utm`)}, '')`,
  utm_term: sql`if(tagged, ${word('terms', sql`utm`)}, '')`,
  utm_content: sql`if(tagged, ${word('contents', sql`utm`)}, '')`,
  country: sql`if(placed, ${word('countries', sql`country_at`)}, '')`,
  region: sql`if(placed, concat('Region ', toString(city_at % 300)), '')`,
  city: sql`if(placed, concat('City ', toString(city_at)), '')`,
};
const NUMBERS: Readonly<Record<string, Sql>> = {
  has_context: sql`1`,
  referrer_signal: sql`if(referred, {referrerSignals:Array(UInt8)}[referrer_at], 7)`,
  source_signal: sql`if(tagged, {sourceSignals:Array(UInt8)}[utm], 7)`,
  medium_signal: sql`if(tagged, {mediumSignals:Array(UInt8)}[utm], 7)`,
  latitude: sql`if(placed, round(-55 + sipHash64(city_at, 21) % 12000 / 100, 4), -999)`,
  longitude: sql`if(placed, round(-170 + sipHash64(city_at, 22) % 34000 / 100, 4), -999)`,
};
const CONTEXT = [
  ...Object.entries(TEXTS).map(
    ([column, value]) => [identifier(column), sql`if(is_first, ${value}, '')`] as const,
  ),
  ...Object.entries(NUMBERS).map(
    ([column, value]) => [identifier(column), sql`if(is_first, ${value}, 0)`] as const,
  ),
];

/** Inserts the events of the selected sessions: pageviews, and another event with every second one. */
const eventsSql = (sessions: Sql): Sql => sql`INSERT INTO events
    (app_id, timestamp, session_id, started_at, type, path, label, duration_ms,
    ${join(CONTEXT.map(([column]) => column))})
WITH
    sipHash64(g, k, 8) AS e1,
    j = 1 AS other,
    k = 1 AND j = 0 AS is_first,
    multiIf(NOT other, 1, e1 % 100 < 48, 4, e1 % 100 < 85, 2, e1 % 100 < 97, 5, 3) AS kind,
    v1 % length({browsers:Array(String)}) + 1 AS tech,
    h1 % 100 < 45 AS referred,
    h2 % length({referrers:Array(String)}) + 1 AS referrer_at,
    intDiv(h1, 100) % 100 < 15 AS tagged,
    ${zipf(sql`intDiv(h2, 7919)`, 200)} AS utm,
    v2 % 100 < 96 AS placed,
    if(intDiv(h1, 10000) % 20 = 0, h2, v2) AS place_hash,
    ${zipf(sql`intDiv(place_hash, 104729)`, 2000)} AS city_at,
    (city_at - 1) % length({countries:Array(String)}) + 1 AS country_at,
    start + offset + if(other, 700 + e1 % 2000, 0) AS at
SELECT
    app,
    fromUnixTimestamp64Milli(toInt64(at), 'UTC'),
    session,
    fromUnixTimestamp64Milli(toInt64(start), 'UTC'),
    kind,
    if(sipHash64(g, k, 10) % 10 = 0,
        concat('/archive/', toString(sipHash64(g, k, 13) % 20000)),
        concat('/page/', toString(${zipf(sql`sipHash64(g, k, 14)`, 500)}))),
    multiIf(
        kind = 2, concat('#button-', toString(${zipf(sql`intDiv(e1, 100)`, 300)})),
        kind = 3, concat('TypeError: undefined is not a function (', toString(${zipf(sql`intDiv(e1, 100)`, 150)}), ')'),
        kind = 5, concat('goal-', toString(${zipf(sql`intDiv(e1, 100)`, 40)})),
        ''),
    if(kind = 4, 1000 + toUInt32(-log(1 - (intDiv(e1, 100) % 1000000) / 1000000) * 24000), 0),
    ${join(
      CONTEXT.map(([, value]) => value),
      sql`,\n    `,
    )}
FROM (${sessions})
ARRAY JOIN offsets AS offset, arrayEnumerate(offsets) AS k
ARRAY JOIN if((intDiv(g, 20) + k) % 2 = 0, [0, 1], [0]) AS j
WHERE at <= {now:Int64}
SETTINGS max_block_size = 4096, max_threads = 2, max_execution_time = 600, insert_deduplicate = 0, max_partitions_per_insert_block = 0`;

/** A day of the big app. Session starts follow the hours of the day, wherever the stretch of 24 h begins. */
const BIG = eventsSql(
  sessionsSql(
    sql`{app:UUID}`,
    sql`{from:Int64} + positiveModulo(
            (arrayFirstIndex(share -> sipHash64(g, 15) % 1000 < share, {hours:Array(UInt16)}) - 1) * 3600000
            + toInt64(sipHash64(g, 16) % 3600000) - {from:Int64}, 86400000)`,
  ),
);

const SMALL = eventsSql(
  sessionsSql(
    sql`toUUID(concat('5a110000-0000-4000-8000-', leftPad(toString(intDiv(g, {perApp:UInt64}) + 1), 12, '0')))`,
    sql`{from:Int64} + toInt64(sipHash64(g, 15) % {span:UInt64})`,
  ),
);

/**
 * A table like `sessions`, filled by the same view, from which no row is ever deleted. The raw questions read
 * it.
 */
export const ALL_SESSIONS = ['all_sessions', 'all_sessions_from_events'] as const;

async function keepAllSessions(db: Database): Promise<void> {
  const [table, view] = ALL_SESSIONS;
  const { select } = await db.queryOne({
    name: 'view of sessions',
    sql: sql`SELECT as_select AS select FROM system.tables WHERE database = currentDatabase() AND name = 'sessions_from_events'`,
    row: z.object({ select: z.string() }),
  });
  await db.command('all sessions', sql`CREATE TABLE IF NOT EXISTS ${identifier(table)} AS sessions`);
  await db.command(
    'all sessions',
    sql`CREATE MATERIALIZED VIEW IF NOT EXISTS ${identifier(view)} TO ${identifier(table)} AS ${unchecked(select)}`,
  );
}

/** Fills `events` and its views. Reports progress after each stretch. */
export async function generate(
  db: Database,
  shape: Shape,
  onProgress: (done: number, all: number) => void,
): Promise<void> {
  const { sessionsPerDay, sessionsPerSmallApp } = sizes(shape);
  const from = beginning(shape);
  await keepAllSessions(db);
  const insert = (statement: Sql, params: Params) =>
    db.command('generate', statement, { ...VOCABULARY, now: NOW, ...params }, { lane: 'seal' });
  const ofSmall = SMALL_APPS * sessionsPerSmallApp;
  const span = shape.days * DAY_MS;
  await insert(SMALL, {
    from,
    span,
    first: 0,
    count: ofSmall,
    perApp: sessionsPerSmallApp,
    visitors: Math.ceil(ofSmall / 3),
  });
  const { visitors } = sizes(shape);
  for (let day = 0; day < shape.days; day++) {
    onProgress(day, shape.days);
    const first = day * sessionsPerDay;
    await insert(BIG, { app: BIG_APP, from: from + day * DAY_MS, first, count: sessionsPerDay, visitors });
  }
  await commitEvents(db, null);
  onProgress(shape.days, shape.days);
}
