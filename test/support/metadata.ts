import { inProcessLocks } from '../../src/domain/locks.ts';
import { type EpochMs, epochMs } from '../../src/domain/time.ts';
import { createMetadata, type Metadata } from '../../src/metadata/metadata.ts';
import type { PlanName, Principal, RetentionOfPlans } from '../../src/metadata/types.ts';
import { bridgeProcess } from './bridge-process.ts';
import { serverStore, type TestStore, testStore } from './store.ts';

/** Metadata on its own store, with a clock that the test moves. */
export interface MetadataBench {
  readonly store: TestStore;
  readonly metadata: Metadata;
  readonly now: () => EpochMs;
  wait(ms: number): void;
  /** Metadata of another process on the same store: its own caches and clock, the same locks. */
  another(clockAheadMs?: number, retentionOfPlans?: RetentionOfPlans): Metadata;
  /** Makes a new account with a key. */
  account(plan?: PlanName): Promise<{ principal: Principal; apiKey: string }>;
  close(): Promise<void>;
}

/** `shared`: on a store that several processes may share. `own`: on one that only this process uses. */
export async function metadataBench(where: 'shared' | 'own' = 'shared'): Promise<MetadataBench> {
  // A server at CLICKHOUSE_URL is one that several processes may share.
  const isThere = where === 'own' || process.env['CLICKHOUSE_URL'] !== undefined;
  const bridge = isThere ? null : await bridgeProcess();
  const store = await (bridge === null ? testStore() : serverStore(bridge));
  const opened: Metadata[] = [];
  const locks = inProcessLocks();
  let now = epochMs(Date.UTC(2026, 10, 20, 7, 16));
  const clock = (): EpochMs => now;
  const another = (aheadMs = 0, retentionOfPlans: RetentionOfPlans = {}): Metadata => {
    const made = createMetadata({
      db: store.db,
      clock: () => epochMs(now + aheadMs),
      elapsed: clock,
      locks,
      retentionOfPlans,
    });
    opened.push(made);
    return made;
  };
  const metadata = another();
  return {
    store,
    metadata,
    now: clock,
    wait: (ms) => {
      now = epochMs(now + ms);
    },
    another,
    async account(plan = 'free') {
      const { accountId } = await metadata.createAccount({ name: 'Acme', plan });
      const { apiKey } = await metadata.createKey(accountId, { expiresAt: null });
      const principal = await metadata.authenticate(apiKey);
      if (principal === null) throw new Error('a new key is not accepted');
      return { principal, apiKey };
    },
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await store.close();
      await bridge?.close();
    },
  };
}

/** The input for a new app. */
export const shop = (domain = 'https://shop.example') => ({ name: 'Shop', domain });
