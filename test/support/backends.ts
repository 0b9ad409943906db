import { afterAll, beforeAll, describe } from 'vitest';
import type { Database } from '../../src/clickhouse/database.ts';
import { bridgeProcess } from './bridge-process.ts';
import { byChance } from './chance.ts';
import { serverStore, type TestStore, testStore } from './store.ts';

/** A kind of store. `stop` ends the parts that `open` started, after the store was closed. */
interface Backend {
  readonly name: string;
  readonly open: () => Promise<{ store: TestStore; stop: () => Promise<void> }>;
}

const GIVEN: Backend = {
  name: process.env['CLICKHOUSE_URL'] ? 'the server at CLICKHOUSE_URL' : 'the embedded engine',
  open: async () => ({ store: await testStore(), stop: async () => undefined }),
};
const BRIDGE: Backend = {
  name: 'the HTTP bridge',
  open: async () => {
    const bridge = await bridgeProcess();
    return { store: await serverStore(bridge), stop: bridge.close };
  },
};
/** With `npm run test:cluster`, the first one is a bridge already. */
const BACKENDS = process.env['STORE'] === 'cluster' ? [GIVEN] : [GIVEN, BRIDGE];

type Tests = (on: { readonly store: TestStore; readonly db: Database }) => void;

/** Describes `tests` on each backend. Each gets an empty store, which exists within the tests. */
export function onEachBackend(tests: Tests): void {
  describeOn(BACKENDS, tests);
}

/** Describes long tests on one backend, by chance; with BACKENDS=all on each of them. */
export function onOneBackend(tests: Tests): void {
  const one = byChance(BACKENDS.length);
  describeOn(process.env['BACKENDS'] === 'all' ? BACKENDS : BACKENDS.slice(one, one + 1), tests);
}

function describeOn(backends: readonly Backend[], tests: Tests): void {
  describe.each(backends)('on $name', ({ open }) => {
    let store: TestStore;
    let stop: () => Promise<void>;
    beforeAll(async () => {
      ({ store, stop } = await open());
    });
    afterAll(async () => {
      await store.close();
      await stop();
    });
    tests({
      get store() {
        return store;
      },
      get db() {
        return store.db;
      },
    });
  });
}
