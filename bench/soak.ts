import { ENDPOINTS } from '../src/endpoints/index.ts';
import { fill, type Held, heavyQuestion, heldBy } from '../test/faults/heavy.ts';
import { type Running, running, type Tenant } from '../test/faults/support.ts';
import { openLoop, type Sample, type Stream } from '../test/support/open-loop.ts';
import { percentile, rounded } from './statistics.ts';
import { table } from './table.ts';

const TENANTS = 4;
/** Small caches fill soon. Memory that grows while a cache fills would hide a leak. */
const SMALL_CACHES = { ANSWER_CACHE_MIB: '4', FACTS_CACHE_MIB: '4' };
/** The length of one measurement. */
const WINDOW_MS = 20_000;

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
export async function benchSoak(minutes: number) {
  const service = await running(SMALL_CACHES);
  try {
    const tenants = await Promise.all(Array.from({ length: TENANTS }, () => service.newTenant()));
    for (const { app } of tenants) await fill(service, app, 2);
    const streams = tenants.flatMap((tenant) => streamsOf(service, tenant));
    const stretches: Stretch[] = [];
    for (let at = 0; at < minutes * 60_000; at += WINDOW_MS) {
      const samples = await openLoop(streams, WINDOW_MS);
      const stretch = seen((at + WINDOW_MS) / 60_000, samples, heldBy(service.pid ?? 0));
      stretches.push(stretch);
      console.error(JSON.stringify(stretch));
    }
    return report(stretches);
  } finally {
    await service.remove();
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

const MEASURES = ['rssMiB', 'handles', 'threads', 'pollP50Ms', 'pollP99Ms', 'storeP99Ms'] as const;

function report(stretches: readonly Stretch[]) {
  // Skips the first half, in which caches and the engine's pools fill.
  const steady = stretches.slice(Math.floor(stretches.length / 2));
  const slopes = MEASURES.map((measure) => ({
    measure,
    from: steady[0]?.[measure] ?? Number.NaN,
    to: steady.at(-1)?.[measure] ?? Number.NaN,
    perMinute: rounded(slope(steady.map((stretch) => [stretch.minute, stretch[measure]]))),
  }));
  const rows = slopes.map(({ measure, from, to, perMinute }) => [
    measure,
    String(from),
    String(to),
    String(perMinute),
  ]);
  console.log(table(['second half', 'from', 'to', 'slope per minute'], rows, 1));
  const sum = (of: 'requests' | 'failed'): number =>
    stretches.reduce((total, stretch) => total + stretch[of], 0);
  console.log(`${sum('requests')} requests, ${sum('failed')} of them neither 200 nor 304`);
  return {
    records: [{ bench: 'soak', slopes, requests: sum('requests'), failed: sum('failed') }, ...stretches],
    exact: true,
  };
}

/** The slope of the least-squares line. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
}
