import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { program } from '../test/support/program.ts';
import { batchMaker, historyOf, type Target } from './ingest-traffic.ts';
import { progress } from './progress.ts';
import { Sender } from './sender.ts';
import { type BenchService, startService } from './service.ts';
import { percentile, rounded, timed } from './statistics.ts';
import { figure, table } from './table.ts';

/** One line of the JSON file. */
interface IngestRecord {
  /** Events per batch; null for an import. */
  readonly batch: number | null;
  readonly eventsPerSecond: number;
  /** Null for an import, as are the latencies. */
  readonly requestsPerSecond: number | null;
  /** From sending a batch to its acknowledgement. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** The service's. */
  readonly maxRssMb: number;
  /** CPU time by wall time, of the service and of the load generator. 2 means all of two cores. */
  readonly serviceCores: number;
  readonly senderCores: number;
}

/** `senders` work at the same time. Each sends its next batch after the answer to the last one. */
const CASES = [
  { batch: 20, senders: 256 },
  { batch: 500, senders: 32 },
  { batch: 1, senders: 256 },
];
const WARM_UP_MS = 3_000;
const SAMPLE_MS = 100;
const IMPORT_EVENTS = 1_000_000;
const TICKS_PER_SECOND = 100;

const Created = z.object({ accountId: z.string() });
const Key = z.object({ apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });
const Kpis = z.object({ current: z.object({ pageviews: z.number() }) });

/**
 * Sends events over HTTP to the service as `npm start` runs it, in its own process, with views and sealing
 * on. Then loads a file with `npm run import`. Each case begins with an empty embedded store, so that it does
 * not pay for another case's merges. The result is exact if the service counts as many pageviews as were
 * acknowledged.
 */
export async function benchIngest(
  seconds: number,
): Promise<{ readonly records: IngestRecord[]; readonly exact: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
  try {
    const runs: Run[] = [];
    for (const { batch, senders } of CASES) {
      progress(`batches of ${batch}`);
      const send = (service: BenchService, site: Site) =>
        sendBatches(service, site, batch, senders, seconds * 1000);
      runs.push(await onEmptyStore(join(folder, `batches-${batch}`), send));
    }
    progress('import');
    const dataDir = join(folder, 'import');
    runs.push(await onEmptyStore(dataDir, (service, site) => importHistory(service, site, dataDir)));
    progress(null);
    const records = runs.map(({ record }) => record);
    print(records);
    const sum = (of: 'sent' | 'stored'): number => runs.reduce((total, run) => total + run[of], 0);
    console.log(`\n${sum('sent')} pageviews acknowledged, ${sum('stored')} answered`);
    return { records, exact: runs.every(({ sent, stored }) => sent === stored) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Sent {
  readonly record: IngestRecord;
  /** The number of acknowledged pageviews. */
  readonly sent: number;
}

interface Run extends Sent {
  readonly stored: number;
}

async function onEmptyStore(
  dataDir: string,
  work: (service: BenchService, site: Site) => Promise<Sent>,
): Promise<Run> {
  mkdirSync(dataDir);
  const service = await startService(dataDir);
  try {
    const site = await newSite(service);
    const sent = await work(service, site);
    return { ...sent, stored: await site.pageviews() };
  } finally {
    await service.stop();
  }
}

interface Site extends Target {
  /** The number of pageviews by the Public API. */
  pageviews(): Promise<number>;
}

async function newSite(service: BenchService): Promise<Site> {
  const { accountId } = Created.parse(await service.admin('account', 'create', '--name', 'Bench'));
  const { apiKey } = Key.parse(await service.admin('key', 'create', '--account', accountId));
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const made = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'Bench', domain: 'https://shop.example' }),
  });
  const { id, secretKey } = App.parse(await made.json());
  return {
    appId: id,
    secretKey,
    pageviews: async () => {
      const range = 'from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00Z';
      const answer = await fetch(`${service.url}/api/v1/sessions/overview/kpis?appId=${id}&${range}`, {
        headers,
      });
      return Kpis.parse(await answer.json()).current.pageviews;
    },
  };
}

async function sendBatches(
  service: BenchService,
  target: Target,
  batch: number,
  senders: number,
  ms: number,
): Promise<Sent> {
  const maker = batchMaker(target, batch);
  const from = performance.now() + WARM_UP_MS;
  const to = from + ms;
  const latencies: number[] = [];
  let sent = 0;
  const send = async (): Promise<void> => {
    const sender = new Sender(service.url, '/sdk/v1/events');
    for (let started = performance.now(); started < to; started = performance.now()) {
      const { status, body } = await sender.post(maker.next());
      if (status !== 200 || !body.includes(`"accepted":${batch},`)) throw new Error(`${status} ${body}`);
      sent++;
      const ended = performance.now();
      if (started >= from && ended <= to) latencies.push(ended - started);
    }
    sender.close();
  };
  const watch = watchProcess(service.pid, from, to);
  await Promise.all(Array.from({ length: senders }, send));
  const perSecond = latencies.length / (ms / 1000);
  const record = {
    batch,
    eventsPerSecond: Math.round(perSecond * batch),
    requestsPerSecond: rounded(perSecond),
    p50Ms: rounded(percentile(latencies, 0.5)),
    p99Ms: rounded(percentile(latencies, 0.99)),
    ...(await watch),
  };
  return { record, sent: sent * maker.pageviews };
}

async function importHistory(service: BenchService, { appId }: Target, dataDir: string): Promise<Sent> {
  const file = join(dataDir, 'history.ndjson');
  const history = historyOf(IMPORT_EVENTS);
  await pipeline(Readable.from(history.lines), createWriteStream(file));
  let end = Number.POSITIVE_INFINITY;
  const watch = watchProcess(service.pid, performance.now(), () => end);
  const { ms } = await timed(async () => {
    const command = spawn(await program(), ['import', file, '--app', appId], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...service.env },
    });
    const [code] = await once(command, 'exit');
    if (code !== 0) throw new Error('the import failed');
  });
  end = 0;
  const { maxRssMb, serviceCores } = await watch;
  const nothing = { batch: null, requestsPerSecond: null, p50Ms: null, p99Ms: null, senderCores: 0 };
  const eventsPerSecond = Math.round((IMPORT_EVENTS * 1000) / ms);
  return { record: { ...nothing, eventsPerSecond, maxRssMb, serviceCores }, sent: history.pageviews };
}

/**
 * Watches a process between two moments: its highest resident memory, and the CPU time of it and of this
 * process.
 */
async function watchProcess(
  pid: number,
  from: number,
  to: number | (() => number),
): Promise<Pick<IngestRecord, 'maxRssMb' | 'serviceCores' | 'senderCores'>> {
  const end = typeof to === 'number' ? () => to : to;
  await new Promise((resolve) => setTimeout(resolve, from - performance.now()));
  const begun = { at: performance.now(), service: cpuSeconds(pid), own: process.cpuUsage() };
  let maxRssMb = 0;
  while (performance.now() < end()) {
    maxRssMb = Math.max(maxRssMb, residentMb(pid));
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  }
  const elapsed = (performance.now() - begun.at) / 1000;
  const own = process.cpuUsage(begun.own);
  return {
    maxRssMb: Math.round(maxRssMb),
    serviceCores: rounded((cpuSeconds(pid) - begun.service) / elapsed),
    senderCores: rounded((own.user + own.system) / 1e6 / elapsed),
  };
}

function cpuSeconds(pid: number): number {
  // The name in brackets may hold any character. utime and stime are the 14th and 15th field.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

function print(records: readonly IngestRecord[]): void {
  const cell = (value: number | null): string => (value === null ? '' : figure(value));
  const rows = records.map((record) => [
    record.batch === null ? 'import' : `batches of ${record.batch}`,
    String(record.eventsPerSecond),
    ...[record.requestsPerSecond, record.p50Ms, record.p99Ms].map(cell),
    String(record.maxRssMb),
    figure(record.serviceCores),
    figure(record.senderCores),
  ]);
  const header = ['', 'events/s', 'requests/s', 'p50 ms', 'p99 ms', 'max RSS MB', 'cores', 'of senders'];
  console.log(`\n${table(header, rows, 1)}`);
}
