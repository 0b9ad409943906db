import { inProcessLocks } from '../../src/domain/locks.ts';
import { type EpochMs, epochMs } from '../../src/domain/time.ts';
import { createMetadata, type Metadata } from '../../src/metadata/metadata.ts';
import type { PlanName, Principal } from '../../src/metadata/types.ts';
import { type TestStore, testStore } from './store.ts';

/** Metadata on an engine of its own, with a clock that the test moves. */
export interface MetadataBench {
  readonly store: TestStore;
  readonly metadata: Metadata;
  readonly now: () => EpochMs;
  wait(ms: number): void;
  /** What another process on the same store would hold: caches of its own, the same locks, its own clock. */
  another(clockAheadMs?: number): Metadata;
  /** A new account with a key. */
  account(plan?: PlanName): Promise<{ principal: Principal; apiKey: string }>;
}

export async function metadataBench(): Promise<MetadataBench> {
  const store = await testStore();
  const locks = inProcessLocks();
  let now = epochMs(Date.UTC(2026, 10, 20, 7, 16));
  const clock = (): EpochMs => now;
  const another = (aheadMs = 0): Metadata =>
    createMetadata({ db: store.db, clock: () => epochMs(now + aheadMs), locks });
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
  };
}

/** What an app is made of. */
export const shop = (domain = 'https://shop.example') => ({ name: 'Shop', domain });
