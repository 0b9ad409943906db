import { ENDPOINTS } from '../src/endpoints/index.ts';
import { fill, type Held, heavyQuestion, heldBy } from '../test/faults/heavy.ts';
import { type Running, running, type Tenant } from '../test/faults/support.ts';
import { openLoop, type Sample, type Stream } from '../test/support/open-loop.ts';
import type { Recording } from './recording.ts';
import { percentile, rounded } from './statistics.ts';
import { table } from './table.ts';

const TENANTS = 4;
/** Small caches fill soon. Memory that grows while a cache fills would hide a leak. */
const SMALL_CACHES = { ANSWER_CACHE_MIB: '4', FACTS_CACHE_MIB: '4' };
/** The length of one measurement. */
const WINDOW_MS = 20_000;
/** So many at least, for a slope. */
const LEAST_WINDOWS = 6;

/** A stretch of the soak. */
interface Stretch extends Held {
  readonly minute: number;
  readonly requests: number;
  readonly failed: number;
  readonly pollP50Ms: number;
  readonly pollP99Ms: number;
  readonly storeP99Ms: number;
}

/**
 * Polls with ETags, asks questions that were never asked before, and sends events, all at a rate that the
 * service keeps up with. Memory, open files, threads and latency must not drift.
 */
export async function benchSoak(recording: Recording, minutes: number): Promise<void> {
  const { progress } = recording;
  const service = await running(SMALL_CACHES, { detached: true });
  const stretches: Stretch[] = [];
  try {
    const tenants = await Promise.all(Array.from({ length: TENANTS }, () => service.newTenant()));
    for (const { app } of tenants) await fill(service, app, 2);
    const streams = tenants.flatMap((tenant) => streamsOf(service, tenant));
    const windowMs = Math.min(WINDOW_MS, (minutes * 60_000) / LEAST_WINDOWS);
    progress.begin('soak', Math.ceil((minutes * 60_000) / windowMs));
    for (let at = 0; at < minutes * 60_000 && !recording.stopping; at += windowMs) {
      progress.step(seenSoFar(stretches.at(-1)));
      const samples = await openLoop(streams, windowMs);
      stretches.push(seen((at + windowMs) / 60_000, samples, heldBy(service.pid ?? 0)));
    }
  } finally {
    await service.remove();
    progress.end();
    if (stretches.length > 0) report(recording, stretches);
  }
}

type Kind = 'poll' | 'question' | 'store';

function streamsOf(service: Running, { app, key }: Tenant): Stream<Kind>[] {
  const polled = ENDPOINTS.filter(({ method }) => method === 'get');
  const tags = new Map<string, string>();
  let turn = 0;
  const poll = async (): Promise<number> => {
    const { path } = polled[turn++ % polled.length] ?? { path: '' };
    const target = path === '/api/v1/apps' ? path : `${path}?appId=${app.id}`;
    const known = tags.get(path);
    const { status, headers } = await service.ask(target, {
      key,
      headers: known === undefined ? {} : { 'If-None-Match': known },
    });
    tags.set(path, headers['etag'] ?? '');
    return status;
  };
  const paths = (): string[] => Array.from({ length: 20 }, (_, i) => `/page/${(turn * 7 + i * 13) % 500}`);
  return [
    { kind: 'poll', perSecond: 1, ask: poll },
    {
      kind: 'question',
      perSecond: 0.1,
      ask: async () => (await service.ask(heavyQuestion(app), { key })).status,
    },
    { kind: 'store', perSecond: 0.5, ask: async () => (await service.record(app, paths())).status },
  ];
}

function seen(minute: number, samples: readonly Sample<Kind>[], held: Held): Stretch {
  const ms = (kind: Kind, share: number): number =>
    rounded(
      percentile(
        samples.filter((sample) => sample.kind === kind).map((sample) => sample.ms),
        share,
      ),
    );
  return {
    minute: rounded(minute),
    requests: samples.length,
    failed: samples.filter(({ status }) => status !== 200 && status !== 304).length,
    pollP50Ms: ms('poll', 0.5),
    pollP99Ms: ms('poll', 0.99),
    storeP99Ms: ms('store', 0.99),
    rssMiB: rounded(held.rssMiB),
    peakMiB: rounded(held.peakMiB),
    handles: held.handles,
    threads: held.threads,
  };
}

const seenSoFar = (last: Stretch | undefined): string =>
  last === undefined
    ? 'first stretch'
    : `${Math.round(last.rssMiB)} MiB, ${last.handles} files, ${last.threads} threads, p50 ${last.pollP50Ms} ms`;

const MEASURES = {
  rssMiB: ['memory, MiB', 'MiB'],
  handles: ['open files', 'count'],
  threads: ['threads', 'count'],
  pollP50Ms: ['p50 of polls, ms', 'ms'],
  pollP99Ms: ['p99 of polls, ms', 'ms'],
  storeP99Ms: ['p99 of batches, ms', 'ms'],
} as const;

function report(recording: Recording, stretches: readonly Stretch[]): void {
  // Skips the first half, in which caches and the engine's pools fill.
  const steady = stretches.slice(Math.floor(stretches.length / 2));
  const rows = (Object.keys(MEASURES) as (keyof typeof MEASURES)[]).map((measure) => {
    const perMinute = slope(steady.map((stretch) => [stretch.minute, stretch[measure]]));
    const values = stretches.map((stretch) => stretch[measure]);
    const [name, unit] = MEASURES[measure];
    const common = { bench: 'soak', name, better: null };
    recording.record({ ...common, measure: 'by stretch', unit, runs: values });
    recording.record({
      ...common,
      measure: 'slope of the second half',
      unit: 'per minute',
      runs: [perMinute],
    });
    return [name, String(steady[0]?.[measure]), String(steady.at(-1)?.[measure]), String(rounded(perMinute))];
  });
  console.log(table(['second half', 'from', 'to', 'slope per minute'], rows, 1));
  const sum = (of: 'requests' | 'failed'): number =>
    stretches.reduce((total, stretch) => total + stretch[of], 0);
  const [requests, failed] = [sum('requests'), sum('failed')];
  const common = { bench: 'soak', name: 'requests', unit: 'requests/s' as const, better: null };
  const seconds = (stretches.at(-1)?.minute ?? 0) * 60;
  recording.record({ ...common, measure: 'rate', runs: [requests / seconds] });
  const share = [(failed / requests) * 100];
  recording.record({ ...common, measure: 'neither 200 nor 304', unit: '%', better: 'lower', runs: share });
  console.log(`${requests} requests, ${failed} of them neither 200 nor 304`);
}

/** The slope of the least-squares line. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
}
