import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptBeside } from '../test/support/program.ts';
import { localRedis } from '../test/support/redis.ts';
import type { Bytes } from './http-bare.ts';
import type { Load, Outcome, Poll } from './http-load.ts';
import { newSites, QUESTIONS, requestHead, type Site, sendSessions } from './http-site.ts';
import { progress } from './progress.ts';
import { type BenchService, startService } from './service.ts';
import { median, rounded } from './statistics.ts';
import { figure, table } from './table.ts';

/** One line of the JSON file. */
interface HttpRecord {
  readonly case: string;
  readonly redis: boolean;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Null for the mix, because no single route answers it. */
  readonly bareRequestsPerSecond: number | null;
  readonly ratio: number | null;
}

/** Service and bare route are measured in turn, so that other work of the machine affects both. */
const ROUNDS = 3;
const CONNECTIONS = 16;
/** One connection for each of the 200 keys. */
const MIX_CONNECTIONS = 200;
const WARM_UP_MS = 300;
/** Long enough for every key to ask every question once and to know its tag. */
const MIX_WARM_UP_MS = 6_000;
const TRICKLE_MS = 500;
const MAX_STALE = 'Cache-Control: max-stale=10\r\n';
/** Headers that differ from answer to answer. The bare route need not set them, which is to its advantage. */
const OWN = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

/**
 * Measures the Public API as `npm start` runs it, on an embedded store, with the load generator in its own
 * process. First each endpoint's 304 and cached 200 beside a bare Express route with the same bytes. Then 200
 * keys that poll every endpoint: without new events, with new events, and with answers that may be ten
 * seconds old. All with Redis and without.
 */
export async function benchHttp(
  seconds: number,
): Promise<{ readonly records: HttpRecord[]; readonly exact: boolean }> {
  const records: HttpRecord[] = [];
  const load = child('http-load');
  const bare = child('http-bare');
  const [barePort] = (await once(bare, 'message')) as [number];
  const redis = await localRedis();
  try {
    for (const redisUrl of [redis.url, null]) {
      const bench = new HttpBench({ load, bare, barePort, seconds, redis: redisUrl !== null });
      records.push(...(await withService(redisUrl, (service) => bench.run(service))));
    }
  } finally {
    load.kill();
    bare.kill();
    await redis.close();
  }
  progress(null);
  print(records);
  return { records, exact: true };
}

function child(file: string): ChildProcess {
  const { loader, path } = scriptBeside(import.meta.url, file);
  const part = fork(path, { execArgv: loader });
  part.once('exit', (code) => {
    if (code !== null && code !== 0) throw new Error(`${file} ended`);
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
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type How = Pick<Load, 'polls' | 'connections' | 'warmUpMs' | 'rate'>;

interface Parts {
  readonly load: ChildProcess;
  readonly bare: ChildProcess;
  readonly barePort: number;
  readonly seconds: number;
  readonly redis: boolean;
}

class HttpBench {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async run(service: BenchService): Promise<HttpRecord[]> {
    progress('apps and keys');
    const sites = await newSites(service);
    const port = Number(new URL(service.url).port);
    const records: HttpRecord[] = [];
    for (const { operationId, path } of QUESTIONS) {
      for (const status of [304, 200]) {
        progress(`${operationId} ${status}${this.#parts.redis ? ', with Redis' : ''}`);
        records.push(await this.#beside(port, `${operationId} ${status}`, path, status, sites));
      }
    }
    progress(`200 keys${this.#parts.redis ? ', with Redis' : ''}`);
    records.push(...(await this.#mix(port, polling(sites), '200 keys polling')));
    const failures: unknown[] = [];
    const trickle = setInterval(() => {
      const site = sites[Math.floor(Math.random() * sites.length)];
      if (site === undefined) return;
      sendSessions(service.url, site, 2, 1).catch((error: unknown) => failures.push(error));
    }, TRICKLE_MS);
    const meanwhile = '200 keys polling while events come in';
    records.push(...(await this.#mix(port, polling(sites), meanwhile)));
    records.push(...(await this.#mix(port, polling(sites, MAX_STALE), `${meanwhile}, max-stale=10`)));
    clearInterval(trickle);
    if (failures.length > 0) throw failures[0];
    return records;
  }

  /** Measures at full speed, and at half of that rate. */
  async #mix(port: number, polls: readonly Poll[], name: string): Promise<HttpRecord[]> {
    const { seconds } = this.#parts;
    const mix = { polls, connections: MIX_CONNECTIONS, warmUpMs: MIX_WARM_UP_MS };
    const closed = await this.#load(port, { ...mix, rate: null }, seconds);
    const half = await this.#load(port, { ...mix, rate: closed.requestsPerSecond / 2 }, seconds);
    return [
      this.#record(`${name}, closed loop`, closed),
      this.#record(`${name}, half of that, open loop`, half),
    ];
  }

  /** Measures one endpoint's answer, and the same bytes from the bare route. */
  async #beside(
    port: number,
    name: string,
    path: string,
    status: number,
    sites: readonly Site[],
  ): Promise<HttpRecord> {
    const [site] = sites;
    const [key] = site?.keys ?? [];
    if (site === undefined || key === undefined) throw new Error('no site');
    const head = requestHead(path, site, key);
    const first = await ask(port, head, null);
    const etag = status === 304 ? (first.headers.find(([header]) => header === 'etag')?.[1] ?? null) : null;
    const bytes = await ask(port, head, etag);
    if (bytes.status !== status) throw new Error(`${name}: ${bytes.status}`);
    this.#parts.bare.send(bytes);
    await once(this.#parts.bare, 'message');
    const polls = Array.from({ length: CONNECTIONS }, () => ({ head, etag, follows: false }));
    const same = { polls, connections: CONNECTIONS, warmUpMs: WARM_UP_MS, rate: null };
    const seconds = this.#parts.seconds / ROUNDS;
    const service: Outcome[] = [];
    const bare: Outcome[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      service.push(await this.#load(port, same, seconds));
      bare.push(await this.#load(this.#parts.barePort, same, seconds));
    }
    const bareRequestsPerSecond = median(bare.map((outcome) => outcome.requestsPerSecond));
    return this.#record(name, middle(service), bareRequestsPerSecond);
  }

  async #load(port: number, how: How, seconds: number): Promise<Outcome> {
    const load: Load = { host: '127.0.0.1', port, ms: seconds * 1000, ...how };
    this.#parts.load.send(load);
    const [outcome] = (await once(this.#parts.load, 'message')) as [Outcome];
    const failed = Object.keys(outcome.statuses).filter((status) => status !== '200' && status !== '304');
    if (failed.length > 0) throw new Error(`answered ${JSON.stringify(outcome.statuses)}`);
    return outcome;
  }

  #record(name: string, outcome: Outcome, bareRequestsPerSecond: number | null = null): HttpRecord {
    const { requestsPerSecond, p50Ms, p99Ms, p999Ms } = outcome;
    return {
      case: name,
      redis: this.#parts.redis,
      requestsPerSecond: Math.round(requestsPerSecond),
      p50Ms: rounded(p50Ms),
      p99Ms: rounded(p99Ms),
      p999Ms: rounded(p999Ms),
      bareRequestsPerSecond: bareRequestsPerSecond === null ? null : Math.round(bareRequestsPerSecond),
      ratio: bareRequestsPerSecond === null ? null : rounded(requestsPerSecond / bareRequestsPerSecond),
    };
  }
}

/** Every key asks every question in turn and sends its tag. `header`: an additional header. */
function polling(sites: readonly Site[], header = ''): Poll[] {
  return QUESTIONS.flatMap(({ path }) =>
    sites.flatMap((site) =>
      site.keys.map((key) => ({
        head: `${requestHead(path, site, key)}${header}`,
        etag: null,
        follows: true,
      })),
    ),
  );
}

/** Returns the round with the median throughput. */
function middle(outcomes: readonly Outcome[]): Outcome {
  const perSecond = median(outcomes.map(({ requestsPerSecond }) => requestsPerSecond));
  const found = outcomes.find(({ requestsPerSecond }) => requestsPerSecond === perSecond);
  if (found === undefined) throw new Error('no rounds');
  return found;
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

function print(records: readonly HttpRecord[]): void {
  const rows = records.map((record) => [
    record.case,
    record.redis ? 'yes' : 'no',
    String(record.requestsPerSecond),
    figure(record.p50Ms),
    figure(record.p99Ms),
    figure(record.p999Ms),
    record.bareRequestsPerSecond === null ? '' : String(record.bareRequestsPerSecond),
    record.ratio === null ? '' : `${Math.round(record.ratio * 100)} %`,
  ]);
  const header = ['', 'Redis', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'bare requests/s', 'of bare'];
  console.log(`\n${table(header, rows)}`);
}
