import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '../../src/clickhouse/sql.ts';
import { prepareDemo } from '../../src/demo/load.ts';
import { DEMO_DOMAIN } from '../../src/demo/site.ts';
import { type DemoState, readState, writeState } from '../../src/demo/state.ts';
import { type Visit, visits } from '../../src/demo/visits.ts';
import { DAY_MS, type EpochMs, epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { createLog } from '../../src/http/server/log.ts';
import { createIngestion, type Ingestion } from '../../src/ingestion/ingestion.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { type MetadataBench, metadataBench } from '../support/metadata.ts';

let bench: MetadataBench;
let ingestion: Ingestion;
let folder: string;

beforeAll(async () => {
  bench = await metadataBench('own');
  folder = mkdtempSync(join(tmpdir(), 'analytics-demo-'));
  const log = createLog({ level: 'silent' });
  ingestion = createIngestion({ db: bench.store.db, clock: bench.now, log, maxAgeDays: 730 });
  await ingestion.start();
});

afterAll(async () => {
  await ingestion.drain();
  await bench.close();
  removeFolder(folder);
});

const pageviewsOf = (all: readonly Visit[]): number =>
  all.flatMap(({ events }) => events).filter(({ type }) => type === 'pageview').length;

const prepare = (through: Ingestion): Promise<DemoState> =>
  prepareDemo({
    metadata: bench.metadata,
    ingestion: through,
    clock: bench.now,
    folder,
    onProgress: () => undefined,
  });

const stored = async (): Promise<{ sessions: number; pageviews: number }> =>
  bench.store.db.queryOne({
    name: 'stored',
    sql: sql`SELECT uniqExact(session_id) AS sessions, countIf(type = 'pageview') AS pageviews FROM events`,
    row: z.object({ sessions: z.number(), pageviews: z.number() }),
  });

test('equal starts give equal visits, and a later end only adds to them', () => {
  const start = epochMs(Date.parse('2026-10-01T10:00:00.123Z'));
  const until = epochMs(start + 2 * DAY_MS);
  const first = [...visits(start, until)];
  expect([...visits(start, until)]).toEqual(first);
  const longer = [...visits(start, epochMs(until + DAY_MS))];
  expect(longer.slice(0, first.length).map(({ id }) => id)).toEqual(first.map(({ id }) => id));
  const times = first.flatMap(({ startedAt, events }) => [startedAt, ...events.map((e) => e.timestamp)]);
  expect(times.every((time) => Date.parse(time) >= start && Date.parse(time) <= until)).toBe(true);
  const visitors = new Set(first.map(({ visitorId }) => visitorId));
  expect(visitors.size).toBeLessThan(first.length);
});

test('an interrupted load goes on, and a later start adds the visits since; nothing counts twice', async () => {
  const { principal, apiKey } = await bench.account('pro');
  const app = await bench.metadata.createApp(principal, { name: 'Demo shop', domain: DEMO_DOMAIN });
  const start: EpochMs = epochMs(bench.now() - 4 * DAY_MS);
  const state = { apiKey, appId: app.id, secretKey: app.secretKey, start, until: bench.now(), loaded: 0 };
  writeState(folder, state);

  let batches = 0;
  const interrupted: Ingestion = {
    ...ingestion,
    accept: async (...args) => {
      batches += 1;
      if (batches === 3) throw new Error('interrupted');
      return ingestion.accept(...args);
    },
  };
  await expect(prepare(interrupted)).rejects.toThrow('interrupted');
  bench.wait(HOUR_MS);
  const resumed = await prepare(ingestion);
  expect(resumed).toMatchObject({ apiKey, appId: app.id, until: bench.now() });
  expect(readState(folder)).toEqual(resumed);

  const planned = [...visits(start, epochMs(state.until))];
  const added = [...visits(start, bench.now())].slice(planned.length);
  expect(await stored()).toEqual({
    sessions: planned.length + added.length,
    pageviews: pageviewsOf(planned) + pageviewsOf(added),
  });

  expect(await prepare(ingestion)).toEqual(resumed);
  expect((await stored()).sessions).toBe(planned.length + added.length);
});
