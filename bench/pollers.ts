import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { removeFolder } from '../src/remove-folder.ts';
import { bridgeProcess } from '../test/support/bridge-process.ts';
import { localRedis } from '../test/support/redis.ts';
import { sendSessions } from './http-site.ts';
import type { Recording } from './recording.ts';
import { type BenchService, startService } from './service.ts';
import { median, rounded } from './statistics.ts';
import { figure, table } from './table.ts';

/** The figures of one store. */
interface PollersRecord {
  readonly store: 'embedded' | 'server';
  /** Medians of the whole request, by the interval of the polls. */
  readonly everySecondMs: number;
  readonly every30SecondsMs: number;
  readonly ratio: number;
  /** The same for the parts in Server-Timing. */
  readonly stages: Readonly<Record<string, readonly [everySecondMs: number, every30SecondsMs: number]>>;
}

interface Poller {
  readonly path: string;
  readonly key: string;
  etag: string | null;
}

interface Answered {
  readonly ms: number;
  readonly stages: ReadonlyMap<string, number>;
}

const POLLERS = 10;
/** The first round of each is not measured. */
const ROUNDS = { 1000: 21, 30000: 3 } as const;
const SESSIONS = 50;
const Created = z.object({ accountId: z.string() });
const Key = z.object({ apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });

/**
 * Measures the 304 of an ordinary poller. Ten keys, each with an account and an app of its own, ask one after
 * the other: first each every second, then each every 30 s. With Redis, on the embedded store and on a server
 * (the HTTP bridge).
 */
export async function benchPollers(recording: Recording): Promise<void> {
  const redis = await localRedis();
  const bridge = await bridgeProcess();
  const folder = mkdtempSync(join(tmpdir(), 'bench-pollers-'));
  const settings = { REDIS_URL: redis.url, PUBLIC_API_REQUESTS_PER_MINUTE: '1000000' };
  const server = {
    CLICKHOUSE_URL: bridge.url,
    CLICKHOUSE_USER: bridge.username,
    CLICKHOUSE_PASSWORD: bridge.password,
    MANAGEMENT_JWT_SECRET: randomUUID(),
  };
  const measured = async (store: PollersRecord['store'], more: Readonly<Record<string, string>>) => {
    const service = await startService(mkdtempSync(join(folder, store)), { ...settings, ...more });
    try {
      return await measure(recording, service, store);
    } finally {
      await service.stop();
    }
  };
  try {
    // At the same time, because both are idle between the polls.
    print(await Promise.all([measured('embedded', {}), measured('server', server)]));
  } finally {
    await bridge.close();
    await redis.close();
    removeFolder(folder);
  }
}

async function measure(
  recording: Recording,
  service: BenchService,
  store: PollersRecord['store'],
): Promise<PollersRecord> {
  const { progress, signal } = recording;
  progress.say(`${store}: accounts, keys and apps`);
  const agent = new Agent({ keepAlive: true });
  const pollers: Poller[] = [];
  for (let i = 0; i < POLLERS; i++) pollers.push(await newPoller(service));
  const measured = async (every: string, everyMs: keyof typeof ROUNDS): Promise<Answered[]> => {
    progress.say(`${store}: ${every}`);
    const answers = await round(service, agent, pollers, everyMs, signal);
    const runs = answers.map(({ ms }) => ms);
    recording.record({ bench: 'pollers', name: `${store}, ${every}`, measure: 'latency', unit: 'ms', runs });
    return answers;
  };
  const often = await measured('every second', 1_000);
  const seldom = await measured('every 30 s', 30_000);
  agent.destroy();
  const medianOf = (answers: readonly Answered[], stage: string) =>
    rounded(median(answers.map(({ stages }) => stages.get(stage) ?? 0)));
  const [everySecondMs, every30SecondsMs] = [often, seldom].map((answers) =>
    median(answers.map(({ ms }) => ms)),
  ) as [number, number];
  return {
    store,
    everySecondMs: rounded(everySecondMs),
    every30SecondsMs: rounded(every30SecondsMs),
    ratio: rounded(every30SecondsMs / everySecondMs),
    stages: Object.fromEntries(
      ['auth', 'limit', 'plan'].map((stage) => [stage, [medianOf(often, stage), medianOf(seldom, stage)]]),
    ),
  };
}

async function newPoller(service: BenchService): Promise<Poller> {
  const { accountId } = Created.parse(await service.admin('account', 'create', '--name', 'Poller'));
  const { apiKey: key } = Key.parse(await service.admin('key', 'create', '--account', accountId));
  const made = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Bench', domain: 'https://shop.example' }),
  });
  const { id: appId, secretKey } = App.parse(await made.json());
  await sendSessions(service.url, { appId, secretKey, keys: [key], pageviews: 0 }, SESSIONS);
  return { key, path: `/api/v1/sessions/pageviews?appId=${appId}`, etag: null };
}

/** Each poller asks every `everyMs`. The polls are evenly spread. */
async function round(
  service: BenchService,
  agent: Agent,
  pollers: readonly Poller[],
  everyMs: keyof typeof ROUNDS,
  signal: AbortSignal,
): Promise<Answered[]> {
  const answers: Answered[] = [];
  const began = performance.now();
  for (let i = 0; i < ROUNDS[everyMs] * pollers.length; i++) {
    const due = began + (i * everyMs) / pollers.length;
    await sleep(Math.max(0, due - performance.now()), undefined, { signal });
    const answered = await poll(service, agent, pollers[i % pollers.length] as Poller);
    if (i >= pollers.length) answers.push(answered);
  }
  return answers;
}

function poll({ url }: BenchService, agent: Agent, poller: Poller): Promise<Answered> {
  const headers = {
    Authorization: `Bearer ${poller.key}`,
    ...(poller.etag === null ? {} : { 'If-None-Match': poller.etag }),
  };
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${poller.path}`, { agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => {
        const ms = performance.now() - began;
        const expected = poller.etag === null ? 200 : 304;
        if (answer.statusCode !== expected) reject(new Error(`answered ${answer.statusCode}`));
        poller.etag = answer.headers.etag ?? null;
        resolve({ ms, stages: stagesOf(String(answer.headers['server-timing'])) });
      });
    });
    asked.once('error', reject);
    asked.end();
  });
}

const stagesOf = (timing: string): Map<string, number> =>
  new Map([...timing.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, stage = '', ms]) => [stage, Number(ms)]));

function print(records: readonly PollersRecord[]): void {
  const rows = records.flatMap(({ store, everySecondMs, every30SecondsMs, ratio, stages }) => [
    [store, figure(everySecondMs), figure(every30SecondsMs), figure(ratio)],
    ...Object.entries(stages).map(([stage, [often, seldom]]) => [
      `  ${stage}`,
      figure(often),
      figure(seldom),
      '',
    ]),
  ]);
  console.log(`\n${table(['p50 of a 304', 'every second, ms', 'every 30 s, ms', 'ratio'], rows)}`);
}
