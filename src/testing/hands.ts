import { randomUUID } from 'node:crypto';
import { accountId, appId, keyId } from '../domain/ids.ts';
import { type Clock, epochMs } from '../domain/time.ts';
import type { IngestResult } from '../ingestion/ingestion.ts';
import { PLANS } from '../metadata/plans.ts';
import type { PlanName } from '../metadata/types.ts';
import type { Service } from '../start/service.ts';
import type { CreatedApp } from './types.ts';

/** The actions of which planting a seed is made, in one service. Ids are text, as in answers. */
export interface Hands {
  createAccount(name: string): Promise<string>;
  setPlan(account: string, plan: PlanName): Promise<void>;
  /** `expiresAt`: epoch ms. */
  createKey(
    account: string,
    name: string,
    expiresAt: number | null,
  ): Promise<{ readonly keyId: string; readonly apiKey: string }>;
  revokeKey(key: string): Promise<void>;
  /** Replaces a key at once. The id is that of the new one. */
  replaceKey(key: string): Promise<string>;
  /** The service's clock, in epoch ms. */
  now(): number;
  createApp(
    account: string,
    app: { readonly name: string; readonly domain: string },
  ): Promise<{ readonly id: string; readonly secretKey: string }>;
  shareApp(app: string, account: string): Promise<void>;
  send(app: CreatedApp, sessions: readonly object[]): Promise<IngestResult>;
}

/** Works on a service in this process, past its listeners: no fault and no rate window is in the way. */
export function directHands({ metadata, ingestion }: Service, clock: Clock): Hands {
  return {
    now: clock,
    replaceKey: async (key) =>
      (await metadata.rotateKey(keyId(key), { overlapMs: 0, expiresAt: null })).keyId,
    createAccount: async (name) => (await metadata.createAccount({ name, plan: 'pro' })).accountId,
    setPlan: async (account, plan) => {
      await metadata.setPlan(accountId(account), plan);
    },
    createKey: (account, name, expiresAt) =>
      metadata.createKey(accountId(account), {
        name,
        expiresAt: expiresAt === null ? null : epochMs(expiresAt),
      }),
    revokeKey: async (key) => {
      await metadata.revokeKey(keyId(key));
    },
    createApp: (account, app) => {
      // The account alone decides.
      const owner = {
        accountId: accountId(account),
        keyId: keyId(randomUUID()),
        plan: PLANS.pro,
        actor: 'operator',
      };
      return metadata.createApp(owner, app);
    },
    shareApp: (app, account) => metadata.shareApp(appId(app), accountId(account)),
    send: ({ id, domain }, sessions) =>
      ingestion.accept(
        { id: appId(id), domain },
        { batchId: randomUUID(), sessions },
        { userAgent: '', address: '127.0.0.1' },
      ),
  };
}
