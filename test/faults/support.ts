import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { removeFolder } from '../../src/remove-folder.ts';
import { type Answer, type Ask, send } from '../support/http.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';

const Account = z.object({ accountId: z.string() });
const Key = z.object({ keyId: z.string(), apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });
export type App = z.infer<typeof App>;

/** An account with one key and one app. */
export interface Tenant {
  readonly account: string;
  readonly keyId: string;
  readonly key: string;
  readonly app: App;
}

/** The real service in its own process on its own folder. */
export interface Running extends ServiceProcess {
  readonly dataDir: string;
  ask(path: string, ask?: Ask): Promise<Answer>;
  newKey(account: string): Promise<{ readonly keyId: string; readonly key: string }>;
  newTenant(plan?: string): Promise<Tenant>;
  newApp(key: string, domain?: string): Promise<App>;
  /** Sends a batch of one session with one pageview for each path. */
  record(app: App, paths: readonly string[], batchId?: string): Promise<Answer>;
  /** Kills the process and removes its folder. */
  remove(): Promise<void>;
}

export const SECRET = 'a management secret of more than 32 characters';

/** Starts the service. The rate limit is high unless `settings` lower it. */
export async function running(settings: Readonly<Record<string, string>> = {}): Promise<Running> {
  const dataDir = settings['DATA_DIR'] ?? mkdtempSync(join(tmpdir(), 'analytics-faults-'));
  const service = await serviceProcess({
    DATA_DIR: dataDir,
    PUBLIC_API_REQUESTS_PER_MINUTE: '1000000',
    MANAGEMENT_JWT_SECRET: SECRET,
    ...settings,
  });
  const ask = (path: string, asked: Ask = {}): Promise<Answer> => send(service.url, path, asked);
  const newKey = async (account: string) => {
    const { keyId, apiKey } = Key.parse(await service.admin('key', 'create', '--account', account));
    return { keyId, key: apiKey };
  };
  const newApp = async (key: string, domain = `https://${randomUUID()}.example`): Promise<App> =>
    App.parse((await ask('/api/v1/apps', { method: 'POST', key, body: { name: 'Shop', domain } })).json);
  return {
    ...service,
    dataDir,
    ask,
    newKey,
    newApp,
    newTenant: async (plan = 'pro') => {
      const created = await service.admin('account', 'create', '--name', 'Acme', '--plan', plan);
      const account = Account.parse(created).accountId;
      const { keyId, key } = await newKey(account);
      return { account, keyId, key, app: await newApp(key) };
    },
    record: (app, paths, batchId = randomUUID()) =>
      ask('/sdk/v1/events', { method: 'POST', body: batchOf(app, paths, batchId) }),
    remove: async () => {
      await service.kill();
      removeFolder(dataDir);
    },
  };
}

export function batchOf(app: App, paths: readonly string[], batchId: string = randomUUID()): object {
  const startedAt = new Date(Date.now() - 1_000).toISOString();
  const events = paths.map((path) => ({ type: 'pageview', timestamp: startedAt, path }));
  const session = { id: randomUUID(), visitorId: randomUUID(), startedAt, events };
  return { appId: app.id, secretKey: app.secretKey, batchId, sessions: [session] };
}

/** Tables, statements, paths of the engine, its version: the service must never reveal them. */
export const INSIDE =
  /\bSELECT\b|INSERT INTO|secret_column|clickhouse|\bchdb\b|DB::|UNKNOWN_|\/store\/|schema_migrations|\.[cm]?[jt]s:\d+:\d+|\bnode:[\w/]+:\d+/i;

let asked = 0;
/** Returns a new question, which no cached answer fits. */
export const question = (app: App, path = 'pageviews'): string =>
  `/api/v1/sessions/${path}?appId=${app.id}&limit=${(asked++ % 9_000) + 1_000}`;
