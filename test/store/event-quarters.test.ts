import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { quoted, sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { unseal } from '../../src/facts/unseal.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, newApp, REQUEST } from './ingestion-support.ts';

/* The hours of Kathmandu begin at UTC :15. Quarters that sealing counted answer for them where they are right. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const FIRST = NOW - (NOW % DAY) - 3 * DAY;
const RANGE = { from: epochMs(FIRST + 1), to: epochMs(FIRST + DAY - 1) };
const QUESTION = { interval: 'hour', timezone: 'Asia/Kathmandu' } as const;

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const send = (app: ReturnType<typeof newApp>, minutes: readonly number[]) =>
  ingestionOn(store.db).accept(
    app,
    {
      batchId: randomUUID(),
      sessions: minutes.map((minute) => ({
        id: `s${minute}`,
        visitorId: 'v',
        startedAt: new Date(FIRST + minute * MINUTE).toISOString(),
        events: (['pageview', 'click'] as const).map((type) => ({
          type,
          timestamp: new Date(FIRST + minute * MINUTE + 5).toISOString(),
          path: '/',
          target: 'a',
        })),
      })),
    },
    REQUEST,
  );

/** Page views by the start of the hour, in minutes after `FIRST`. */
async function viewsOf(app: AppId): Promise<Readonly<Record<number, number>>> {
  const { points } = await steadyAnalytics({ db: store.db }).series(app, RANGE, QUESTION);
  return Object.fromEntries(
    points
      .filter(({ pageviews }) => pageviews > 0)
      .map(({ start, pageviews, clicks }) => {
        expect(clicks).toBe(pageviews);
        return [(Date.parse(start) - FIRST) / MINUTE, pageviews];
      }),
  );
}

/** Three in the hour from 9:15 on, three in the next one, and one in the last. */
const MINUTES = [
  9 * 60 + 20,
  9 * 60 + 59,
  10 * 60 + 14,
  10 * 60 + 15,
  10 * 60 + 40,
  11 * 60 + 1,
  23 * 60 + 50,
];
const VIEWS = { 555: 3, 615: 3, 1395: 1 };

test('before and after sealing, without quarters of an earlier version, and with late events, all hours are exact', async () => {
  const app = newApp();
  await send(app, MINUTES);
  expect(await viewsOf(app.id)).toEqual(VIEWS);
  await seal({ db: store.db, only: [app.id] }, NOW);
  expect(await viewsOf(app.id)).toEqual(VIEWS);
  const ofApp = sql`app_id = ${quoted(app.id)}`;
  await store.db.command(
    'an earlier version',
    sql`DELETE FROM ${store.db.shards.stored('event_quarters')} WHERE ${ofApp} AND bucket < ${(FIRST + 10 * HOUR) / 1000}`,
  );
  expect(await viewsOf(app.id)).toEqual(VIEWS);
  // Late, and in an hour without any event before.
  await send(app, [10 * 60 + 16, 15 * 60]);
  const later = { ...VIEWS, 615: 4, 855: 1 };
  expect(await viewsOf(app.id)).toEqual(later);
  await unseal({ db: store.db, only: [app.id] }, NOW);
  expect(await viewsOf(app.id)).toEqual(later);
  await seal({ db: store.db, only: [app.id] }, NOW);
  expect(await viewsOf(app.id)).toEqual(later);
});

test('a range that begins or ends at any quarter of an hour counts what lies in it and nothing beside', async () => {
  const app = newApp();
  await send(app, MINUTES);
  await seal({ db: store.db, only: [app.id] }, NOW);
  const analytics = steadyAnalytics({ db: store.db });
  for (let from = 9 * 60; from <= 11 * 60; from += 15) {
    for (let to = from + 15; to <= 11 * 60 + 15; to += 15) {
      const range = { from: epochMs(FIRST + from * MINUTE), to: epochMs(FIRST + to * MINUTE - 1) };
      for (const timezone of ['Asia/Kathmandu', 'Asia/Tehran', 'UTC']) {
        for (const interval of ['hour', 'month'] as const) {
          const { points } = await analytics.series(app.id, range, { interval, timezone });
          expect(
            points.reduce((sum, { pageviews }) => sum + pageviews, 0),
            `${from} to ${to} in ${timezone} by ${interval}`,
          ).toBe(MINUTES.filter((minute) => minute >= from && minute < to).length);
        }
      }
    }
  }
});

test('quarters that add up to the hour answer, and raw events are not read', async () => {
  const app = newApp();
  await send(app, MINUTES);
  await seal({ db: store.db, only: [app.id] }, NOW);
  // A fault that only the quarters have: what happened at 10:14 is a quarter late.
  await store.db.command(
    'a fault',
    sql`ALTER TABLE ${store.db.shards.stored('event_quarters')} UPDATE pageviews = if(bucket = ${(FIRST + 10 * HOUR) / 1000}, 0, 2)
WHERE app_id = ${quoted(app.id)} AND bucket IN (${(FIRST + 10 * HOUR) / 1000}, ${(FIRST + 10 * HOUR + 15 * MINUTE) / 1000}) SETTINGS mutations_sync = 2`,
  );
  const { points } = await steadyAnalytics({ db: store.db }).series(app.id, RANGE, QUESTION);
  const views = points.map(({ pageviews }) => pageviews).filter((count) => count > 0);
  expect(views).not.toEqual(Object.values(VIEWS));
});
