import { EVENTS_IN_FILL, fill, heavyQuestion, heldBy } from '../test/faults/heavy.ts';
import { type Running, running, type Tenant } from '../test/faults/support.ts';
import { closedLoop, openLoop, type Sample, type Stream, statusesOf } from '../test/support/open-loop.ts';
import { recordCounted, type Stored } from './counted.ts';
import type { Recording } from './recording.ts';
import { percentile, rounded, runsFor } from './statistics.ts';
import { table } from './table.ts';

const OTHERS = 4;
/** The flooded app has so many times the events of each other one. */
const TIMES = 15;
/** At most. A short measurement has a shorter warm-up. */
const WARM_UP_MS = 3_000;
const KINDS = ['flood', 'other', 'health'] as const;
const SEGMENT_KINDS = ['segments', 'other', 'health'] as const;
type Kind = (typeof KINDS | typeof SEGMENT_KINDS)[number];
/** A thousand different segments a minute. */
const SEGMENTS_PER_SECOND = 1_000 / 60;
const OTHERS_PER_SECOND = 1;

/**
 * Stores at least `events` events in one app. Then sends twice the load that the service can answer, in an open
 * loop, from one key, with heavy questions that were never asked before. Meanwhile other keys send a twentieth
 * of it each, and the health endpoints are polled. At last, one key asks with 1,000 different segments a minute.
 */
export async function benchOverload(recording: Recording, seconds: number, events: number): Promise<void> {
  const { progress } = recording;
  progress.begin('overload', 4);
  progress.step('apps and data');
  const service = await running();
  try {
    const flood = await service.newTenant();
    const others = await Promise.all(Array.from({ length: OTHERS }, () => service.newTenant()));
    const stored: Stored[] = [];
    for (const { app, key } of [flood, ...others]) {
      const batches = Math.ceil(events / (app === flood.app ? 1 : TIMES) / EVENTS_IN_FILL);
      await fill(service, app, batches);
      stored.push({ appId: app.id, key, pageviews: (batches * EVENTS_IN_FILL) / 4 });
    }
    await measured(recording, service, { flood, others }, seconds);
    await withSegments(recording, service, { flood, others }, seconds);
    progress.end();
    await recordCounted(recording, { bench: 'overload', url: service.url, apps: stored });
  } finally {
    await service.remove();
  }
}

interface Callers {
  readonly flood: Tenant;
  readonly others: readonly Tenant[];
}

async function measured(
  recording: Recording,
  service: Running,
  { flood, others }: Callers,
  seconds: number,
): Promise<void> {
  const { progress, signal } = recording;
  const stream = streamsOf(service, signal);
  const heavy = (perSecond: number) => stream('flood', perSecond, () => heavyQuestion(flood.app), flood.key);
  progress.step('the highest throughput');
  await closedLoop(heavy(0), 8, Math.min(WARM_UP_MS, seconds * 1000));
  const capacity = await closedLoop(heavy(0), 8, seconds * 1000);
  const pid = service.pid ?? 0;
  const before = heldBy(pid);
  progress.step('twice as much');
  const samples = await openLoop(
    [
      heavy(capacity * 2),
      ...others.map(({ app, key }) => stream('other', capacity / 20, () => heavyQuestion(app), key)),
      ...healthOf(stream),
    ],
    seconds * 1000,
  );
  const recoveryMs = await untilAnswered(heavy(0), signal);
  const answered = samples.filter(({ kind, status }) => kind !== 'health' && status === 200).length / seconds;
  const common = { bench: 'overload', labels: { seconds } };
  const throughput = { ...common, unit: 'requests/s' as const, better: 'higher' as const };
  recording.record({ ...throughput, name: 'all callers', measure: 'capacity', runs: [capacity] });
  recording.record({ ...throughput, name: 'twice the capacity', measure: 'throughput', runs: [answered] });
  recording.record({ ...common, name: 'afterwards', measure: 'recovery', unit: 'ms', runs: [recoveryMs] });
  const growth = heldBy(pid).rssMiB - before.rssMiB;
  recording.record({ ...common, name: 'twice the capacity', measure: 'growth', unit: 'MiB', runs: [growth] });
  recordLatencies(recording, seconds, 'twice the capacity', samples, KINDS);
  console.log(
    `capacity ${rounded(capacity)}/s, answered ${rounded(answered)}/s of twice as much, ` +
      `recovery ${rounded(recoveryMs)} ms, memory ${rounded(growth)} MiB more`,
  );
  print(KINDS.map((kind) => summary(samples, kind)));
}

let segments = 0;
/** A question with a segment that was never asked before: it needs raw events, and matches a hundredth of the sessions. */
function questionWithSegment(app: Tenant['app']): string {
  const n = segments++;
  const segment = encodeURIComponent(`page==/page/${n % 900};source!=none ${n}`);
  return `${heavyQuestion(app)}&segment=${segment}`;
}

/** Asks with 1,000 different segments a minute from one key, and a question a second from each other one. */
async function withSegments(
  recording: Recording,
  service: Running,
  { flood, others }: Callers,
  seconds: number,
): Promise<void> {
  const { progress, signal } = recording;
  progress.step('1,000 segments a minute');
  const stream = streamsOf(service, signal);
  const pid = service.pid ?? 0;
  const before = heldBy(pid);
  const samples = await openLoop(
    [
      stream('segments', SEGMENTS_PER_SECOND, () => questionWithSegment(flood.app), flood.key),
      ...others.map(({ app, key }) => stream('other', OTHERS_PER_SECOND, () => heavyQuestion(app), key)),
      ...healthOf(stream),
    ],
    seconds * 1000,
  );
  const growth = heldBy(pid).rssMiB - before.rssMiB;
  const name = '1,000 segments a minute';
  const common = { bench: 'overload', labels: { seconds }, name };
  recording.record({ ...common, measure: 'growth', unit: 'MiB', runs: [growth] });
  recordLatencies(recording, seconds, name, samples, SEGMENT_KINDS);
  console.log(`1,000 different segments a minute: memory ${rounded(growth)} MiB more`);
  print(SEGMENT_KINDS.map((kind) => summary(samples, kind)));
}

type MakeStream = (kind: Kind, perSecond: number, path: () => string, key?: string) => Stream<Kind>;

const streamsOf =
  (service: Running, signal: AbortSignal): MakeStream =>
  (kind, perSecond, path, key) => ({
    kind,
    perSecond,
    ask: async () => {
      signal.throwIfAborted();
      return (await service.ask(path(), key === undefined ? {} : { key })).status;
    },
  });

const healthOf = (stream: MakeStream): Stream<Kind>[] =>
  ['/healthz', '/readyz'].map((path) => stream('health', 5, () => path));

function recordLatencies(
  recording: Recording,
  seconds: number,
  load: string,
  samples: readonly Sample<Kind>[],
  kinds: readonly Kind[],
): void {
  for (const kind of kinds) {
    for (const [status, measure] of [
      [200, 'latency'],
      [503, 'refused after'],
    ] as const) {
      const own = samples.filter((sample) => sample.kind === kind && sample.status === status);
      const runs = own.map(({ ms }) => ms);
      const common = { bench: 'overload', name: `${load}, ${kind}`, labels: { seconds } };
      recording.record({ ...common, measure, unit: 'ms', runs });
    }
  }
}

/** The time from the load's end to the first 200. */
async function untilAnswered(stream: Stream, signal: AbortSignal): Promise<number> {
  const began = performance.now();
  while (!signal.aborted && (await stream.ask()) !== 200);
  return performance.now() - began;
}

function summary(samples: readonly Sample<Kind>[], kind: Kind) {
  const ms = (status: number, share: number): string => {
    const own = samples.filter((sample) => sample.kind === kind && sample.status === status);
    const value = percentile(
      own.map((sample) => sample.ms),
      share,
    );
    return own.length < runsFor(share) ? '-' : String(rounded(value));
  };
  return [kind, JSON.stringify(statusesOf(samples, kind)), ms(200, 0.5), ms(200, 0.99), ms(503, 0.99)];
}

function print(rows: readonly string[][]): void {
  console.log(`\n${table(['asked by', 'answers', '200 p50 ms', '200 p99 ms', '503 p99 ms'], rows)}`);
}
