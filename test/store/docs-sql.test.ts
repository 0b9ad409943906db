import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createAnalytics } from '../../src/analytics/analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, REQUEST } from './ingestion-support.ts';

/*
 * The files of docs/sql: the statements of each question on a small example, as the engine formats them.
 * `npm run docs:sql` writes them.
 */

const APP = appId('11111111-2222-4333-8444-555555555555');
const HOUR = 3_600_000;
/** Both ends cut an hour, most of the range is sealed, and its last hours are not. */
const RANGE = { from: epochMs(Date.parse('2026-11-17T10:20:30.123Z')), to: epochMs(NOW - 1_234) };

const QUESTIONS = {
  'data-bounds': (of) => of.dataBounds(APP),
  'overview-extended': (of) => of.overview(APP, RANGE),
  'overview-kpis': (of) => of.kpis(APP, RANGE),
  pageviews: async (of) => [...(await of.pageviews(APP, RANGE, 3))],
  timespent: async (of) => [...(await of.timeSpent(APP, RANGE, 3))],
  events: async (of) => [...(await of.events(APP, RANGE, { type: 'click', property: null }, 3))],
  'user-growth': (of) => of.userGrowth(APP, RANGE),
  'traffic-heatmap': (of) => of.trafficHeatmap(APP, NOW),
  'traffic-audience-activity': (of) => of.audienceActivity(APP, NOW),
  'locations-all': (of) => of.locations(APP, RANGE, 3),
  utm: (of) => of.utmCampaigns(APP, RANGE),
  series: (of) => of.series(APP, RANGE, { interval: 'day', timezone: 'Asia/Kathmandu' }),
  breakdown: async (of) => [...(await of.breakdown(APP, RANGE, 'country', 3))],
  realtime: (of) => of.realtime(APP, NOW),
} as const satisfies Readonly<Record<string, (of: Analytics) => Promise<unknown>>>;

let store: TestStore;

beforeAll(async () => {
  store = await testStore();
  const ingestion = ingestionOn(store.db);
  const hoursAgo = [74, 73, 50, 49, 30, 26, 6, 1, 0.5];
  const { rejected } = await ingestion.accept(
    { id: APP, domain: 'https://shop.example' },
    { batchId: '99999999-2222-4333-8444-555555555555', sessions: hoursAgo.map(visit) },
    REQUEST,
  );
  expect(rejected).toEqual([]);
  await seal({ db: store.db, only: [APP] }, NOW);
});
afterAll(() => store.close());

function visit(hoursAgo: number, i: number): object {
  const start = NOW - hoursAgo * HOUR;
  return {
    id: `session-${i}`,
    visitorId: `visitor-${i % 4}`,
    startedAt: new Date(start).toISOString(),
    context: {
      utm: { source: 'letter', campaign: `c${i % 2}` },
      location: { country: 'IR', city: 'Tehran', latitude: 35.7, longitude: 51.4 },
    },
    events: ['pageview', 'engagement', 'click', 'error'].map((type, n) => ({
      type,
      timestamp: new Date(start + n * 1_000).toISOString(),
      path: '/',
      ...(type === 'engagement' ? { durationMs: 900 } : {}),
      ...(type === 'error' ? { message: 'no' } : {}),
    })),
  };
}

/** A statement as it was sent. */
const Statement = z.object({ name: z.string(), sql: z.string() });
const FORMATTED = {
  name: 'formatted',
  sql: sql`SELECT formatQuery({sql:String}) AS sql`,
  row: z.object({ sql: z.string() }),
};

const Params = z.record(z.string(), z.union([z.string(), z.number()])).catch({});

interface Sent extends z.infer<typeof Statement> {
  readonly params: z.infer<typeof Params>;
}

/** The store, and the statements that are sent to it. */
function recorded(db: Database): { readonly db: Database; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const view = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const statement = Statement.safeParse(args[0]);
        if (statement.success) sent.push({ ...statement.data, params: Params.parse(args[1]) });
        return value.apply(target, args);
      };
    },
  });
  return { db: view, sent };
}

test.each(Object.entries(QUESTIONS))('docs/sql/%s.sql is what the question sends', async (name, ask) => {
  const { db, sent } = recorded(store.db);
  const snapshot = await createSnapshots(db)(APP);
  sent.splice(0);
  // The events were inserted today. The text must not change with the day.
  await ask(createAnalytics({ db })({ ...snapshot, heldUntil: epochMs(NOW) }));
  const texts = await Promise.all(
    sent.map(async ({ name: statement, sql: text, params }) => {
      const formatted = await store.db.queryOne(FORMATTED, { sql: text });
      const values = Object.entries(params)
        .filter(([param]) => text.includes(`{${param}:`))
        .map(([param, value]) => `SET param_${param} = '${value}';\n`);
      return `-- ${statement}\n${values.join('')}${formatted.sql};\n`;
    }),
  );
  // Statements run side by side, in no fixed order.
  const text = [...new Set(texts)].sort().join('\n');
  await expect(text).toMatchFileSnapshot(`../../docs/sql/${name}.sql`);
});
