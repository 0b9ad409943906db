import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { dateTime, dateTime64 } from '../../src/clickhouse/database.ts';
import { instant } from '../../src/clickhouse/literals.ts';
import { join, sql } from '../../src/clickhouse/sql.ts';
import { epochMs, hourOf } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { onEachBackend } from '../support/backends.ts';
import { ingestionOn, NOW, newApp, REQUEST, stored, totalsOf } from './ingestion-support.ts';

/** The last ms of 2299. */
const LAST = Date.UTC(2300, 0, 1) - 1;
/** Instants at each border of digits, of ms and of seconds. */
const BORDERS = [
  ...new Set([
    0,
    1,
    LAST - 1,
    LAST,
    ...Array.from({ length: 14 }, (_, n) => [-1, 0, 1].map((by) => 10 ** n + by)).flat(),
  ]),
]
  .filter((at) => at >= 0 && at <= LAST)
  .sort((a, b) => a - b);
const PAST = BORDERS.filter((at) => at <= NOW);
const iso = (at: number): string => new Date(at).toISOString();

onEachBackend((on) => {
  test('the store reads each instant as it was meant: in inserts, literals and parameters', async () => {
    await on.db.command(
      'table',
      sql`CREATE TABLE instants (at DateTime64(3, 'UTC'), hour DateTime('UTC')) ENGINE = Memory`,
    );
    // DateTime ends in 2106.
    const hours = BORDERS.map((at) => Math.min(hourOf(at), hourOf(0xffff_ffff * 1000)));
    await on.db.insert(
      'instants',
      BORDERS.map((at, i) => ({ at: dateTime64(at), hour: dateTime(hours[i] ?? 0) })),
    );
    const rows = await on.db.query({
      name: 'inserted',
      sql: sql`SELECT toUnixTimestamp64Milli(at) AS ms, toUnixTimestamp(hour) AS second FROM instants ORDER BY at`,
      row: z.object({ ms: z.number(), second: z.number() }),
    });
    expect(rows).toEqual(BORDERS.map((ms, i) => ({ ms, second: (hours[i] ?? 0) / 1000 })));
    const [literals] = await on.db.query({
      name: 'literals',
      sql: sql`SELECT [${join(BORDERS.map((at) => sql`toUnixTimestamp64Milli(${instant(at)})`))}] AS ms`,
      row: z.object({ ms: z.array(z.number()) }),
    });
    expect(literals?.ms).toEqual(BORDERS);
    const one = {
      name: 'parameter',
      sql: sql`SELECT toUnixTimestamp64Milli(fromUnixTimestamp64Milli({at:Int64}, 'UTC')) AS ms,
        arrayMap(at -> toUnixTimestamp64Milli(fromUnixTimestamp64Milli(at, 'UTC')), {all:Array(Int64)}) AS all`,
      row: z.object({ ms: z.number(), all: z.array(z.number()) }),
    };
    for (const at of BORDERS) {
      expect(await on.db.queryOne(one, { at, all: [at, ...BORDERS] })).toEqual({
        ms: at,
        all: [at, ...BORDERS],
      });
    }
  });

  test('events of each instant are imported, counted and sealed, and delay no others', async () => {
    const [app, other] = [newApp(), newApp()];
    const ingestion = ingestionOn(on.db);
    await ingestion.start();
    const sessionAt = (startedAt: string) => ({
      id: startedAt,
      visitorId: 'v',
      startedAt,
      events: [{ type: 'pageview', timestamp: startedAt, path: '/' }],
    });
    const imported = await ingestion.importHistory(app, [...PAST.map((at) => sessionAt(iso(at)))]);
    expect(imported).toMatchObject({ events: PAST.length, rejected: [] });
    const again = await ingestion.importHistory(app, [...PAST.map((at) => sessionAt(iso(at)))]);
    expect(again).toMatchObject({ events: 0, duplicates: PAST.length });
    const before = await ingestion.importHistory(app, [sessionAt('1969-12-31T23:59:59.999Z')]);
    expect(before).toMatchObject({ events: 0, rejected: [expect.anything()] });
    const batch = { batchId: randomUUID(), sessions: [sessionAt(iso(NOW - 1000))] };
    expect(await ingestion.accept(other, batch, REQUEST)).toMatchObject({ accepted: 1 });
    expect(await totalsOf(on.db, app.id)).toEqual(stored(PAST.length, PAST.length));
    const BOUNDS = {
      name: 'bounds',
      sql: sql`SELECT toUnixTimestamp64Milli(min(oldest)) AS oldest, toUnixTimestamp64Milli(max(newest)) AS newest,
          arraySort(groupUniqArray(toUnixTimestamp(hour) * 1000)) AS hours FROM ledger WHERE app_id = {app:UUID}`,
      row: z.object({ oldest: z.number(), newest: z.number(), hours: z.array(z.number()) }),
    };
    expect(await on.db.queryOne(BOUNDS, { app: app.id })).toEqual({
      oldest: 0,
      newest: PAST.at(-1),
      hours: [...new Set(PAST.map(hourOf))],
    });
    await seal({ db: on.db, only: [app.id] }, epochMs(NOW));
    const FACTS = {
      name: 'facts',
      sql: sql`SELECT arraySort(groupArray(started_at)) AS starts FROM session_facts WHERE app_id = {app:UUID}`,
      row: z.object({ starts: z.array(z.number()) }),
    };
    expect((await on.db.queryOne(FACTS, { app: app.id })).starts).toEqual(PAST);
  });
});
