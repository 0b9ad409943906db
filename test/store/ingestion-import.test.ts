import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ImportSummary, importFiles } from '../../src/cli/import/import.ts';
import { AppError } from '../../src/domain/errors.ts';
import { inProcessLocks } from '../../src/domain/locks.ts';
import type { BatchKey } from '../../src/ingestion/batch-key.ts';
import { createHistory } from '../../src/ingestion/history.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import type { BatchRows } from '../../src/ingestion/journal-rows.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { deferred } from '../support/deferred.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, newApp, session, stored, totalsOf } from './ingestion-support.ts';

const EXCERPT = fileURLToPath(new URL('../data/access-excerpt.log', import.meta.url));
const NOTHING = { assets: 0, errors: 0, methods: 0, bots: 0, malformed: 0 };

let store: TestStore;
let ingestion: Ingestion;
let folder: string;

beforeAll(async () => {
  store = await testStore();
  ingestion = ingestionOn(store.db);
  folder = mkdtempSync(join(tmpdir(), 'analytics-import-'));
});
afterAll(async () => {
  await store.close();
  removeFolder(folder);
});

const alone = () => ({ db: store.db, clock: () => NOW, unsettled: async () => [] });

const run = (app: SdkApp, ...files: string[]): Promise<ImportSummary> =>
  importFiles({
    files,
    app: app.id,
    format: null,
    now: NOW,
    stateRoot: mkdtempSync(join(folder, 'state-')),
    send: (body) => {
      const { sessions, visits } = JSON.parse(body);
      return ingestion.importHistory(app, sessions, visits === true ? 'visits' : 'sessions');
    },
    patienceMs: 0,
    screen: { isTerminal: false, write: () => undefined },
  });

const ndjson = (name: string, items: readonly unknown[]): string => {
  const file = join(folder, name);
  writeFileSync(
    file,
    `${items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join('\n')}\n`,
  );
  return file;
};

describe('NDJSON', () => {
  test('is stored, and counts once if run twice', async () => {
    const app = newApp();
    const file = ndjson('plain.ndjson', [session('a', 5), session('b', 2), '', '{broken', { id: 'no' }]);
    const skipped = { ...NOTHING, malformed: 2 };
    expect(await run(app, file)).toEqual({ lines: 4, sessions: 2, events: 7, skipped, duplicates: 0 });
    expect(await run(app, file)).toEqual({ lines: 4, sessions: 0, events: 0, skipped, duplicates: 7 });
    expect(await totalsOf(store.db, app.id)).toEqual(stored(2, 7));
  });

  test('has no age limit', async () => {
    const app = newApp();
    const old = { id: 'o', visitorId: 'v', startedAt: '1999-01-01T00:00:00Z' };
    const events = [{ type: 'pageview', timestamp: '1999-01-01T00:00:01Z', path: '/' }];
    expect(await run(app, ndjson('old.ndjson', [{ ...old, events }]))).toMatchObject({ events: 1 });
  });

  test('equal events in one file are different events, and are found again', async () => {
    const app = newApp();
    // The second line is 10,000 events later, so it is in another request.
    const filler = Array.from({ length: 60 }, (_, i) => session(`filler-${i}`, 5));
    const [event] = (session('x', 1) as { events: object[] }).events;
    const big = { ...session('big'), events: Array(10_000).fill(event) };
    const file = ndjson('equal.ndjson', [session('a', 2), session('a', 2), ...filler, big, session('a', 2)]);
    expect(await run(app, file)).toMatchObject({ events: 10_306, duplicates: 0, sessions: 62 });
    expect(await run(app, file)).toMatchObject({ events: 0, duplicates: 10_306, sessions: 0 });
    expect(await totalsOf(store.db, app.id)).toEqual(stored(62, 10_306));
  });

  test('a grown or interrupted file adds its missing events', async () => {
    const app = newApp();
    await run(app, ndjson('short.ndjson', [session('a', 3), session('b', 3)]));
    const longer = ndjson('long.ndjson', [
      session('b', 5),
      session('c', 1),
      session('a', 3),
      session('a', 3),
    ]);
    expect(await run(app, longer)).toMatchObject({ events: 6, duplicates: 6, sessions: 3 });
    expect(await totalsOf(store.db, app.id)).toEqual(stored(3, 12));
  });

  test('two runs at once count once', async () => {
    const app = newApp();
    const file = ndjson(
      'twice.ndjson',
      Array.from({ length: 50 }, (_, i) => session(`s${i}`, 4)),
    );
    const runs = await Promise.all([run(app, file), run(app, file)]);
    expect(runs.map(({ events }) => events).sort((a, b) => a - b)).toEqual([0, 200]);
    expect(await totalsOf(store.db, app.id)).toEqual(stored(50, 200));
  });

  test('the next import waits for a batch whose sender has been refused meanwhile', async () => {
    const app = newApp();
    const settled = deferred();
    let isSettled = false;
    const history = createHistory({
      ...alone(),
      locks: inProcessLocks(),
      store: {
        storeOnce: async (_, make) => {
          if (isSettled) return make();
          throw new AppError('store_unavailable', 'late');
        },
        settled: async () => {
          if (!isSettled) await settled.promise;
        },
      },
    });
    await expect(history(app, [session('a', 5)])).rejects.toMatchObject({ code: 'store_unavailable' });
    let next = 'waits';
    const second = history(app, [session('a', 5)]).then(() => {
      next = 'done';
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(next).toBe('waits');
    isSettled = true;
    settled.resolve();
    await second;
  });

  test('an import waits for flushes that other processes have begun, but not for those that begin later', async () => {
    const looks = [['old'], ['old', 'new'], ['new']];
    const storeOnce = vi.fn(async (_: BatchKey, make: () => BatchRows) => make());
    const unsettled = vi.fn(async () => looks.shift() ?? ['old', 'new']);
    const options = {
      ...alone(),
      unsettled,
      locks: inProcessLocks(),
      store: { storeOnce, settled: vi.fn() },
    };
    const history = createHistory(options);
    expect(await history(newApp(), [session('a', 5)])).toMatchObject({ events: 5 });
    expect(unsettled).toHaveBeenCalledTimes(3);
    await expect(history(newApp(), [session('a', 5)])).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(storeOnce).toHaveBeenCalledOnce();
  });

  test('events that the SDK has sent count as stored', async () => {
    const app = newApp();
    const batch = { batchId: '0b5c2a9e-6f4d-4c39-9d0e-0d3f6f1b2a11', sessions: [session('a', 3)] };
    await ingestion.accept(app, batch, { userAgent: '', address: '' });
    expect(await run(app, ndjson('live.ndjson', [session('a', 4)]))).toMatchObject({
      events: 1,
      duplicates: 3,
    });
  });
});

describe('an access log', () => {
  test('is stored, and counts once if run twice', async () => {
    const app = newApp();
    const first = await run(app, EXCERPT);
    const { assets, errors, methods, bots, malformed } = first.skipped;
    expect(first.lines).toBe(300);
    // The README imports the same file.
    expect(readFileSync('README.md', 'utf8')).toContain(JSON.stringify(first));
    expect(first.events).toBeGreaterThan(0);
    expect(first.events + assets + errors + methods + bots + malformed).toBe(300);
    expect(await run(app, EXCERPT)).toEqual({ ...first, sessions: 0, events: 0, duplicates: first.events });
    expect(await totalsOf(store.db, app.id)).toEqual(stored(first.sessions, first.events));
  });

  test('adds the missing events of a grown file', async () => {
    const [app, whole] = [newApp(), newApp()];
    const lines = readFileSync(EXCERPT, 'utf8').split('\n');
    await run(app, ndjson('half.log', lines.slice(0, 150)));
    await run(app, EXCERPT);
    await run(whole, EXCERPT);
    expect(await totalsOf(store.db, app.id)).toEqual(await totalsOf(store.db, whole.id));
  });
});

test('the error names a missing file', async () => {
  await expect(run(newApp(), join(folder, 'none'))).rejects.toThrow('There is no file');
});

test('an import of many years is answered, and counts once when it is repeated with more', async () => {
  const app = newApp();
  // In no order of time. The two events of a session are equal.
  const sessions = Array.from({ length: 60 }, (_, i) => {
    const at = new Date(((i * 7) % 60) * 292 * 86_400_000 + (i % 24) * 3_600_000).toISOString();
    const view = { type: 'pageview', timestamp: at, path: '/' };
    return { id: `s${i}`, startedAt: at, visitorId: 'v', events: [view, view] };
  });
  const first = sessions.slice(0, 25);
  expect(await ingestion.importHistory(app, first)).toEqual({
    sessions: first.map((_, i) => i),
    events: 50,
    duplicates: 0,
    rejected: [],
  });
  expect(await ingestion.importHistory(app, sessions)).toEqual({
    sessions: sessions.slice(25).map((_, i) => 25 + i),
    events: 70,
    duplicates: 50,
    rejected: [],
  });
  expect(await totalsOf(store.db, app.id)).toEqual(stored(60, 120));
});
