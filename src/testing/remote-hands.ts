import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../domain/time.ts';
import { signManagementToken } from '../management/token.ts';
import type { Hands } from './hands.ts';

/** Addresses of a running service, and the secret of its management API. */
export interface Remote {
  readonly url: string;
  readonly managementUrl: string;
  readonly managementSecret: string;
  readonly clock: Clock;
}

const Account = z.object({ accountId: z.string() });
const Key = z.object({ keyId: z.string(), apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });
const Sent = z.object({
  accepted: z.number(),
  rejected: z.array(
    z.object({ session: z.number(), event: z.number().nullable(), code: z.string(), message: z.string() }),
  ),
});

/** Works on a service elsewhere, over its management API and its public endpoints. */
export function remoteHands({ url, managementUrl, managementSecret, clock }: Remote): Hands {
  const manage = async (method: string, path: string, body: object = {}): Promise<unknown> =>
    request(
      `${managementUrl}/management/v1${path}`,
      method,
      body,
      await signManagementToken(managementSecret, clock),
    );
  const createKey: Hands['createKey'] = async (account, name, expiresAt) =>
    Key.parse(
      await manage('POST', `/accounts/${account}/keys`, {
        name,
        ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
      }),
    );
  const revokeKey: Hands['revokeKey'] = async (key) => {
    await manage('POST', `/keys/${key}/revoke`);
  };
  return {
    now: clock,
    replaceKey: async (key) =>
      Key.parse(await manage('POST', `/keys/${key}/rotate`, { overlapSeconds: 0 })).keyId,
    createAccount: async (name) =>
      Account.parse(await manage('POST', '/accounts', { name, plan: 'pro' })).accountId,
    setPlan: async (account, plan) => {
      await manage('PUT', `/accounts/${account}/plan`, { plan });
    },
    createKey,
    revokeKey,
    createApp: async (account, app) => {
      // A key of its own, so that the rate windows of the seeded keys stay unused.
      const key = await createKey(account, 'seeding', null);
      const created = App.parse(await request(`${url}/api/v1/apps`, 'POST', app, key.apiKey));
      await revokeKey(key.keyId);
      return created;
    },
    shareApp: async (app, account) => {
      await manage('PUT', `/apps/${app}/shares/${account}`);
    },
    send: async ({ id, secretKey }, sessions) => {
      const batch = { appId: id, secretKey, batchId: randomUUID(), sessions };
      return Sent.parse(await request(`${url}/sdk/v1/events`, 'POST', batch, null)) as Awaited<
        ReturnType<Hands['send']>
      >;
    },
  };
}

/** Sends JSON. Rejects with an Error that holds the service's own words unless it answers with 2xx. */
async function request(url: string, method: string, body: object, token: string | null): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${method} ${new URL(url).pathname} was answered with ${response.status}: ${text}`);
  return JSON.parse(text);
}
