import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { z } from 'zod';
import { removeFolder } from '../src/remove-folder.ts';
import { program } from '../test/support/program.ts';
import { pageviewsOf } from './counted.ts';
import { newHistogram } from './histogram.ts';
import { batchMaker, historyOf, type Target } from './ingest-traffic.ts';
import type { Recording } from './recording.ts';
import { Sender } from './sender.ts';
import { percentileOf } from './series.ts';
import { type BenchService, startService } from './service.ts';
import { COMPARABLE_RUNS, median, rounded, timed } from './statistics.ts';
import { figure, table } from './table.ts';

/** Senders that work at the same time. Each sends its next batch after the answer to the last one. */
const sendersOf = (batch: number): number => (batch < 100 ? 256 : 32);
/** At most. A short measurement has a shorter warm-up. */
const WARM_UP_MS = 3_000;
const SLICE_MS = 1_000;
const SAMPLE_MS = 100;
const TICKS_PER_SECOND = 100;

const Created = z.object({ accountId: z.string() });
const Key = z.object({ apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });

/** How much is measured. */
interface IngestExtent {
  /** Events in a batch, of each case. */
  readonly batches: readonly number[];
  readonly importedEvents: number;
}

/**
 * Sends events over HTTP to the service as `npm start` runs it, in its own process, with views and sealing
 * on. Then loads a file with `npm run import`. Each case begins with an empty embedded store, so that it does
 * not pay for another case's merges. A case is exact if the service counts as many pageviews as were
 * acknowledged.
 */
export async function benchIngest(
  recording: Recording,
  seconds: number,
  { batches, importedEvents }: IngestExtent,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
  const { progress, signal } = recording;
  progress.begin('ingest', batches.length + 1);
  try {
    for (const batch of batches) {
      progress.step(`batches of ${batch}`);
      const send = (service: BenchService, site: Site) =>
        sendBatches(service, site, { batch, senders: sendersOf(batch), ms: seconds * 1000, signal });
      await onEmptyStore(recording, `batches of ${batch}`, join(folder, `batches-${batch}`), send);
    }
    progress.step('import');
    const dataDir = join(folder, 'import');
    await onEmptyStore(recording, 'import', dataDir, (service, site) =>
      importHistory(service, site, dataDir, importedEvents, signal),
    );
  } finally {
    removeFolder(folder);
    progress.end();
    print(recording);
  }
}

interface Sent extends Watched {
  /** Of each slice of the time. */
  readonly eventsPerSecond: readonly number[];
  /** From sending a batch to its acknowledgement, in ms. Null for an import. */
  readonly latencies: readonly number[] | null;
  /** The number of acknowledged pageviews. */
  readonly sent: number;
}

async function onEmptyStore(
  recording: Recording,
  name: string,
  dataDir: string,
  work: (service: BenchService, site: Site) => Promise<Sent>,
): Promise<void> {
  mkdirSync(dataDir);
  const service = await startService(dataDir);
  try {
    const site = await newSite(service);
    const sent = await work(service, site);
    recordCase(recording, name, sent, (await site.pageviews()) === sent.sent);
  } finally {
    await service.stop();
  }
}

function recordCase(recording: Recording, name: string, sent: Sent, exact: boolean): void {
  const common = { bench: 'ingest', name };
  recording.record({
    ...common,
    measure: 'throughput',
    unit: 'events/s',
    better: 'higher',
    runs: [...sent.eventsPerSecond],
    exact,
  });
  if (sent.latencies !== null) {
    const histogram = newHistogram();
    for (const ms of sent.latencies) histogram.recordValue(Math.round(ms * 1000));
    const runs = [median(sent.latencies)];
    const encoded = encodeIntoCompressedBase64(histogram);
    recording.record({ ...common, measure: 'acknowledged after', unit: 'ms', runs, histogram: encoded });
    recording.record({
      ...common,
      measure: 'cores of the senders',
      unit: 'cores',
      better: null,
      runs: [sent.senderCores],
      ofService: false,
    });
  }
  recording.record({ ...common, measure: 'memory', unit: 'MiB', runs: [sent.maxRssMb] });
  recording.record({ ...common, measure: 'cores', unit: 'cores', better: null, runs: [sent.serviceCores] });
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
    pageviews: () => pageviewsOf(service.url, id, apiKey),
  };
}

interface Sending {
  readonly batch: number;
  readonly senders: number;
  readonly ms: number;
  readonly signal: AbortSignal;
}

async function sendBatches(
  service: BenchService,
  target: Target,
  { batch, senders, ms, signal }: Sending,
): Promise<Sent> {
  const maker = batchMaker(target, batch);
  const from = performance.now() + Math.min(WARM_UP_MS, ms);
  const to = from + ms;
  const latencies: number[] = [];
  const slices = new Array<number>(Math.max(COMPARABLE_RUNS, Math.floor(ms / SLICE_MS))).fill(0);
  const sliceMs = ms / slices.length;
  let sent = 0;
  const send = async (): Promise<void> => {
    const sender = new Sender(service.url, '/sdk/v1/events');
    for (let started = performance.now(); started < to; started = performance.now()) {
      signal.throwIfAborted();
      const { status, body } = await sender.post(maker.next());
      if (status !== 200 || !body.includes(`"accepted":${batch},`)) throw new Error(`${status} ${body}`);
      sent++;
      const ended = performance.now();
      if (started < from || ended >= to) continue;
      latencies.push(ended - started);
      const slice = Math.floor((ended - from) / sliceMs);
      slices[slice] = (slices[slice] ?? 0) + batch;
    }
    sender.close();
  };
  const watch = watchProcess(service.pid, from, to);
  await Promise.all(Array.from({ length: senders }, send));
  return {
    eventsPerSecond: slices.map((events) => (events * 1000) / sliceMs),
    latencies,
    sent: sent * maker.pageviews,
    ...(await watch),
  };
}

async function importHistory(
  service: BenchService,
  { appId }: Target,
  dataDir: string,
  events: number,
  signal: AbortSignal,
): Promise<Sent> {
  const file = join(dataDir, 'history.ndjson');
  const history = historyOf(events);
  await pipeline(Readable.from(history.lines), createWriteStream(file), { signal });
  let end = Number.POSITIVE_INFINITY;
  const watch = watchProcess(service.pid, performance.now(), () => end);
  const { ms } = await timed(async () => {
    const command = spawn(await program(), ['import', file, '--app', appId], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...service.env },
      detached: true,
      signal,
    });
    const [code] = await once(command, 'exit');
    if (code !== 0) throw new Error('the import failed');
  }).finally(() => {
    end = 0;
  });
  return {
    eventsPerSecond: [(events * 1000) / ms],
    latencies: null,
    sent: history.pageviews,
    ...(await watch),
  };
}

interface Watched {
  /** The service's. */
  readonly maxRssMb: number;
  /** CPU time by wall time, of the service and of the load generator. 2 means all of two cores. */
  readonly serviceCores: number;
  readonly senderCores: number;
}

/**
 * Watches a process between two moments: its highest resident memory, and the CPU time of it and of this
 * process.
 */
async function watchProcess(pid: number, from: number, to: number | (() => number)): Promise<Watched> {
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

function print({ cases }: Recording): void {
  const own = cases.filter(({ bench }) => bench === 'ingest');
  const names = [...new Set(own.map(({ name }) => name))];
  if (names.length === 0) return;
  const rows = names.map((name) => {
    const of = (measure: string) => own.find((entry) => entry.name === name && entry.measure === measure);
    const middle = (measure: string): string => {
      const runs = of(measure)?.runs;
      return runs === undefined ? '' : figure(median(runs));
    };
    const latency = of('acknowledged after');
    const at = (share: number): string =>
      latency === undefined ? '' : figure(percentileOf(latency, share).value);
    return [name, middle('throughput'), at(0.5), at(0.99), middle('memory'), middle('cores')];
  });
  const header = ['', 'events/s', 'p50 ms', 'p99 ms', 'max RSS MiB', 'cores'];
  console.log(`\n${table(header, rows, 1)}`);
}
