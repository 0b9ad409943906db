import { bridgeProcess } from './bridge-process.ts';
import { serverStore, type TestStore, testStore } from './store.ts';

/** A way to the store: `stop` ends what `open` started, after the store was closed. */
interface Backend {
  readonly name: string;
  readonly open: () => Promise<{ store: TestStore; stop: () => Promise<void> }>;
}

/** Both ways, for tests of what must be the same on each. */
export const BACKENDS: readonly Backend[] = [
  {
    name: process.env['CLICKHOUSE_URL'] ? 'the server at CLICKHOUSE_URL' : 'the embedded engine',
    open: async () => ({ store: await testStore(), stop: async () => undefined }),
  },
  {
    name: 'the HTTP bridge',
    open: async () => {
      const bridge = await bridgeProcess();
      return { store: await serverStore(bridge), stop: bridge.close };
    },
  },
];
