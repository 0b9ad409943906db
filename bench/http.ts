import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Endpoint } from '../src/endpoints/endpoint.ts';
import { removeFolder } from '../src/remove-folder.ts';
import { scriptBeside } from '../test/support/program.ts';
import { QUESTIONS } from '../test/support/questions.ts';
import { localRedis } from '../test/support/redis.ts';
import { recordCounted } from './counted.ts';
import type { Bytes } from './http-bare.ts';
import type { Load, Poll } from './http-load.ts';
import { newSites, requestHead, type Site, sendSessions } from './http-site.ts';
import { recordLoad } from './load-cases.ts';
import type { Recording } from './recording.ts';
import { percentileOf } from './series.ts';
import { type BenchService, startService } from './service.ts';
import { median } from './statistics.ts';
import { figure, table } from './table.ts';
import type { Outcome } from './tally.ts';

/** How much is measured. */
export interface HttpExtent {
  /** Apps that are polled, each with ten keys. */
  readonly apps: number;
  /** The first so many endpoints are measured beside the bare route. */
  readonly endpoints: number;
  /** Whether it is also measured without Redis. */
  readonly alsoWithoutRedis: boolean;
  /** Shares of the highest throughput at which the latency is measured. */
  readonly shares: readonly number[];
  /** Whether answers that may be ten seconds old are also measured. */
  readonly alsoStale: boolean;
}

/** Service and bare route are measured in turn, so that other work of the machine affects both. */
const ROUNDS = 3;
const CONNECTIONS = 16;
/** Warm-ups are so long at most, and shorter before a short measurement. */
const WARM_UP_MS = 300;
/** The first answers of a key are computed; by the third turn it has the tags of all. */
const MIX_WARM_UP = { warmUpTurns: 3, warmUpMs: 2_000 };
/** New events come so often, and twice in a short measurement. */
const TRICKLE_MS = 500;
const MAX_STALE = 'Cache-Control: max-stale=10\r\n';
/** Headers that differ from answer to answer. The bare route need not set them, which is to its advantage. */
const OWN = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

/**
 * Measures the Public API as `npm start` runs it, on an embedded store, with the load generator in its own
 * process. First each endpoint's 304 and cached 200 beside a bare Express route with the same bytes. Then
 * ten keys of each app poll every endpoint: without new events, with new events, and with answers that may be ten
 * seconds old. All with Redis and without.
 */
export async function benchHttp(recording: Recording, seconds: number, extent: HttpExtent): Promise<void> {
  const { endpoints, alsoWithoutRedis, shares, alsoStale } = extent;
  const redis = await localRedis().catch(() => null);
  if (redis === null)
    recording.note('http: redis-server is not installed, so nothing was measured with Redis.');
  const urls = [
    ...(redis === null ? [] : [redis.url]),
    ...(alsoWithoutRedis || redis === null ? [null] : []),
  ];
  const load = child('http-load', recording);
  const bare = child('http-bare', recording);
  try {
    const [barePort] = (await once(bare, 'message')) as [number];
    recording.progress.begin(
      'http',
      urls.length *
        (1 + Math.min(endpoints, QUESTIONS.length) * 2 + (alsoStale ? 3 : 2) * (1 + shares.length)),
    );
    for (const redisUrl of urls) {
      const redis = redisUrl !== null;
      const bench = new HttpBench({ recording, load, bare, barePort, extent, seconds, redis });
      await withService(redisUrl, (service) => bench.run(service));
    }
  } finally {
    load.kill();
    bare.kill();
    await redis?.close();
    recording.progress.end();
    print(recording);
  }
}

function child(file: string, recording: Recording): ChildProcess {
  const { loader, path } = scriptBeside(import.meta.url, file);
  // Detached: the terminal's Ctrl+C is for this process alone.
  const part = fork(path, { execArgv: loader, detached: true });
  part.once('exit', (code) => {
    // An interrupt ends the service that it asks.
    if (code !== null && code !== 0 && !recording.stopping) throw new Error(`${file} ended`);
  });
  return part;
}

async function withService<T>(
  redisUrl: string | null,
  work: (service: BenchService) => Promise<T>,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-http-'));
  try {
    const service = await startService(dataDir, {
      PUBLIC_API_REQUESTS_PER_MINUTE: '1000000',
      ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    });
    try {
      return await work(service);
    } finally {
      await service.stop();
    }
  } finally {
    removeFolder(dataDir);
  }
}

type How = Omit<Load, 'host' | 'port' | 'ms'>;

interface Parts {
  readonly recording: Recording;
  readonly load: ChildProcess;
  readonly bare: ChildProcess;
  readonly barePort: number;
  readonly extent: HttpExtent;
  readonly seconds: number;
  readonly redis: boolean;
}

class HttpBench {
  readonly #parts: Parts;
  readonly #with: string;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#with = parts.redis ? 'with Redis' : 'without Redis';
  }

  async run(service: BenchService): Promise<void> {
    const { recording, extent } = this.#parts;
    const { progress, signal } = recording;
    progress.step('apps and keys');
    const sites = await newSites(service, extent.apps, signal);
    const port = Number(new URL(service.url).port);
    for (const question of QUESTIONS.slice(0, extent.endpoints)) {
      const { operationId } = question;
      for (const status of [304, 200]) {
        progress.step(`${operationId} ${status}, ${this.#with}`);
        await this.#beside(
          port,
          `${operationId} ${status === 200 ? 'cached 200' : status}`,
          question,
          status,
          sites,
        );
      }
    }
    const keys = sites.reduce((sum, site) => sum + site.keys.length, 0);
    await this.#mix(port, polling(sites), `${keys} keys polling without new events`, keys);
    const sent: Promise<unknown>[] = [];
    const failures: unknown[] = [];
    const trickle = setInterval(
      () => {
        const site = sites[Math.floor(Math.random() * sites.length)];
        if (site === undefined) return;
        sent.push(sendSessions(service.url, site, 2, 1).catch((error: unknown) => failures.push(error)));
      },
      Math.min(TRICKLE_MS, (this.#parts.seconds * 1000) / 2),
    );
    try {
      const meanwhile = `${keys} keys polling while events arrive`;
      await this.#mix(port, polling(sites), meanwhile, keys);
      if (extent.alsoStale) {
        await this.#mix(port, polling(sites, MAX_STALE), `${meanwhile}, max-stale=10`, keys);
      }
    } finally {
      clearInterval(trickle);
    }
    await Promise.all(sent);
    if (failures.length > 0) throw failures[0];
    const apps = sites.map(({ appId, keys: [key = ''], pageviews }) => ({ appId, key, pageviews }));
    const name = `all apps, ${this.#with}`;
    await recordCounted(recording, { bench: 'http', name, url: service.url, apps });
  }

  /** One connection for each key. Measures at full speed, and the latency at shares of that rate. */
  async #mix(port: number, polls: readonly Poll[], mix: string, connections: number): Promise<void> {
    const { recording, extent, redis } = this.#parts;
    const name = `${mix}, ${this.#with}`;
    const how = { polls, connections };
    recording.progress.step(`${name}, full speed`);
    const { perSecond } = await this.#load(port, { ...how, ...MIX_WARM_UP, rate: null });
    const common = { bench: 'http', labels: { mix, redis } };
    const unit = 'requests/s';
    recording.record({
      ...common,
      name,
      measure: 'throughput',
      unit,
      better: 'higher',
      runs: [...perSecond],
    });
    for (const share of extent.shares) {
      const percent = Math.round(share * 100);
      recording.progress.step(`${name}, ${percent} % of that`);
      const rate = median(perSecond) * share;
      const outcome = await this.#load(port, { ...how, ...MIX_WARM_UP, rate });
      const labels = { ...common.labels, percent };
      recordLoad(recording, { ...common, name: `${name}, at ${percent} %`, labels }, rate, outcome);
    }
  }

  /** Measures one endpoint's answer, and the same bytes from the bare route. */
  async #beside(
    port: number,
    answer: string,
    question: Endpoint,
    status: number,
    sites: readonly Site[],
  ): Promise<void> {
    const { recording, redis } = this.#parts;
    const [site] = sites;
    const [key] = site?.keys ?? [];
    if (site === undefined || key === undefined) throw new Error('no site');
    const head = requestHead(question, site, key);
    const first = await ask(port, head, null);
    const etag = status === 304 ? (first.headers.find(([header]) => header === 'etag')?.[1] ?? null) : null;
    const bytes = await ask(port, head, etag);
    if (bytes.status !== status) throw new Error(`${answer}: ${bytes.status}`);
    this.#parts.bare.send(bytes);
    await once(this.#parts.bare, 'message', { signal: recording.signal });
    const polls = Array.from({ length: CONNECTIONS }, () => ({ head, etag, follows: false }));
    const how = { polls, connections: CONNECTIONS, warmUpTurns: 1, warmUpMs: WARM_UP_MS, rate: null };
    const seconds = this.#parts.seconds / ROUNDS;
    const service: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      service.push(...(await this.#load(port, how, seconds)).perSecond);
      bare.push(...(await this.#load(this.#parts.barePort, how, seconds)).perSecond);
    }
    const unit = 'requests/s' as const;
    const common = { bench: 'http', name: `${answer}, ${this.#with}`, unit, better: 'higher' as const };
    const labels = { answer, redis };
    recording.record({ ...common, labels, measure: 'throughput', runs: service });
    recording.record({ ...common, labels, measure: 'bare route', runs: bare, ofService: false });
  }

  async #load(port: number, how: How, seconds = this.#parts.seconds): Promise<Outcome> {
    const { recording, load: generator } = this.#parts;
    const ms = seconds * 1000;
    const warmUpMs = Math.min(how.warmUpMs, 2 * ms);
    const load: Load = { host: '127.0.0.1', port, ms, ...how, warmUpMs };
    generator.send(load);
    const [outcome] = (await once(generator, 'message', { signal: recording.signal })) as [Outcome];
    const failed = Object.keys(outcome.statuses).filter((status) => status !== '200' && status !== '304');
    if (failed.length > 0) throw new Error(`answered ${JSON.stringify(outcome.statuses)}`);
    return outcome;
  }
}

/** Every key asks every question in turn and sends its tag. `header`: an additional header. */
function polling(sites: readonly Site[], header = ''): Poll[] {
  return QUESTIONS.flatMap((question) =>
    sites.flatMap((site) =>
      site.keys.map((key) => ({
        head: `${requestHead(question, site, key)}${header}`,
        etag: null,
        follows: true,
      })),
    ),
  );
}

/** Fetches one answer, for the bare route to repeat. */
async function ask(port: number, head: string, etag: string | null): Promise<Bytes> {
  const [line = '', ...lines] = head.trimEnd().split('\r\n');
  const headers = Object.fromEntries(lines.map((text) => text.split(': ', 2)));
  const answer = await fetch(`http://127.0.0.1:${port}${line.split(' ')[1]}`, {
    headers: {
      ...headers,
      'Accept-Encoding': 'identity',
      ...(etag === null ? {} : { 'If-None-Match': etag }),
    },
  });
  return {
    status: answer.status,
    headers: [...answer.headers].filter(([name]) => !OWN.includes(name)),
    body: await answer.text(),
  };
}

function print({ cases }: Recording): void {
  const own = cases.filter(({ bench }) => bench === 'http');
  const throughput = own
    .filter(({ measure }) => measure === 'throughput')
    .map(({ name, runs }) => {
      const bare = own.find((other) => other.name === name && other.measure === 'bare route');
      const perSecond = median(runs);
      const ofBare = bare === undefined ? '' : `${Math.round((perSecond / median(bare.runs)) * 100)} %`;
      return [name, perSecond.toFixed(0), ofBare];
    });
  if (throughput.length > 0)
    console.log(`\n${table(['full speed', 'requests/s', 'of bare'], throughput, 1)}`);
  const latencies = own
    .filter(({ measure }) => measure === 'latency')
    .map((entry) => {
      const rate = own.find(({ name, measure }) => name === entry.name && measure === 'rate')?.runs[0];
      const cells = [0.5, 0.99, 0.999].map((share) => {
        const { value, enough } = percentileOf(entry, share);
        return enough ? figure(value) : '-';
      });
      return [entry.name, rate?.toFixed(0) ?? '', ...cells];
    });
  const header = ['open loop', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms'];
  if (latencies.length > 0) console.log(`\n${table(header, latencies, 1)}`);
}
