import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Held, heldBy } from '../test/faults/heavy.ts';
import { running } from '../test/faults/support.ts';
import { openLoop, type Sample } from '../test/support/open-loop.ts';
import { recordCounted } from './counted.ts';
import type { Recording } from './recording.ts';
import { type Kind, Sites } from './soak-sites.ts';
import { percentile, rounded, runsFor } from './statistics.ts';
import { table } from './table.ts';
import { type Trend, trendOf, verdictOf } from './trend.ts';

/** Small caches fill soon. Memory that grows while a cache fills would hide a leak. */
const SETTINGS = { ANSWER_CACHE_MIB: '4', FACTS_CACHE_MIB: '4', SEAL_INTERVAL_SECONDS: '20' };
const WINDOW_MS = 20_000;
/** A long soak has so many stretches, which are longer: enough answers in each for a percentile. */
const MOST_WINDOWS = 60;
/** A short one has so many, which are shorter: enough in the second half for a verdict. */
const LEAST_WINDOWS = 16;
/** Requests per second. */
const RATE = 6;
/** From one replaced app to the next. The first one is replaced in the second stretch. */
const REPLACE_EVERY_MS = 240_000;
/**
 * Disk that may grow with what is stored: an event takes 18 bytes. The rest is for parts that are not merged yet,
 * and for the ids of batches, which are remembered for 9 days.
 */
const BYTES_PER_EVENT = 100;
const MIB = 1024 ** 2;

/** A stretch of the soak. */
interface Stretch extends Held {
  readonly minute: number;
  readonly requests: number;
  readonly failed: number;
  readonly pollP50Ms: number;
  readonly pollP95Ms: number;
  readonly questionP50Ms: number;
  readonly storeP95Ms: number;
  readonly diskMiB: number;
  /** Since the start. */
  readonly streamed: number;
  readonly broken: number;
  readonly storedEvents: number;
}

export interface SoakOptions {
  readonly minutes: number;
  readonly requestsPerSecond?: number;
}

/**
 * Polls with ETags, keeps streams open, asks questions that were never asked before, sends events of now and of
 * sealed hours, makes apps and deletes others, all at a rate that the service keeps up with. Memory, open files,
 * threads, latency and disk must not drift.
 */
export async function benchSoak(
  recording: Recording,
  { minutes, requestsPerSecond = RATE }: SoakOptions,
): Promise<void> {
  const { progress } = recording;
  progress.say('soak: making apps');
  const service = await running(SETTINGS);
  const stretches: Stretch[] = [];
  try {
    const sites = await Sites.open(service);
    try {
      const load = sites.load(requestsPerSecond);
      const totalMs = minutes * 60_000;
      const windowMs = Math.max(Math.min(WINDOW_MS, totalMs / LEAST_WINDOWS), totalMs / MOST_WINDOWS);
      const count = Math.round(totalMs / windowMs);
      progress.begin('soak', count);
      const every = Math.ceil(REPLACE_EVERY_MS / windowMs);
      for (let i = 0; i < count && !recording.stopping; i++) {
        progress.step(seenSoFar(stretches.at(-1)));
        const replaced = i % every === 1 % every ? sites.replaceOne() : Promise.resolve();
        const [samples] = await Promise.all([openLoop(load, windowMs, recording.signal), replaced]);
        // A stretch that was cut short has too few answers.
        if (recording.stopping) break;
        const held = { ...heldBy(service.pid), diskMiB: bytesBelow(service.dataDir) / MIB };
        stretches.push(seen(((i + 1) * windowMs) / 60_000, samples, held, sites.counts));
      }
      if (!recording.stopping)
        await recordCounted(recording, { bench: 'soak', url: service.url, apps: sites.stored });
    } finally {
      sites.close();
    }
  } finally {
    await service.remove();
    progress.end();
    if (stretches.length > 0) report(recording, stretches);
  }
}

/** The size of all files below a folder. Files that vanish meanwhile do not count. */
function bytesBelow(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + bytesBelow(join(folder, name)), 0);
  } catch {
    return lstatSync(folder, { throwIfNoEntry: false })?.size ?? 0;
  }
}

function seen(
  minute: number,
  samples: readonly Sample<Kind>[],
  { rssMiB, peakMiB, handles, threads, diskMiB }: Held & { readonly diskMiB: number },
  { streamed, broken, events }: Sites['counts'],
): Stretch {
  /** Not a number if there are too few answers for the percentile. */
  const ms = (kind: Kind, share: number): number => {
    const own = samples.filter((sample) => sample.kind === kind);
    return own.length < runsFor(share)
      ? Number.NaN
      : rounded(
          percentile(
            own.map((sample) => sample.ms),
            share,
          ),
        );
  };
  return {
    minute: rounded(minute),
    requests: samples.length,
    failed: samples.filter(({ status }) => status !== 200 && status !== 304).length,
    pollP50Ms: ms('poll', 0.5),
    pollP95Ms: ms('poll', 0.95),
    questionP50Ms: ms('question', 0.5),
    storeP95Ms: ms('store', 0.95),
    rssMiB: rounded(rssMiB),
    peakMiB: rounded(peakMiB),
    handles,
    threads,
    diskMiB: rounded(diskMiB),
    streamed,
    broken,
    storedEvents: events,
  };
}

const seenSoFar = (last: Stretch | undefined): string =>
  last === undefined
    ? 'first stretch'
    : `${Math.round(last.rssMiB)} MiB, ${last.handles} files, ${last.threads} threads, p50 ${last.pollP50Ms} ms, ${last.failed} failed`;

const MEASURES = {
  rssMiB: ['memory, MiB', 'MiB'],
  handles: ['open files', 'count'],
  threads: ['threads', 'count'],
  pollP50Ms: ['p50 of polls, ms', 'ms'],
  pollP95Ms: ['p95 of polls, ms', 'ms'],
  questionP50Ms: ['p50 of questions, ms', 'ms'],
  storeP95Ms: ['p95 of batches, ms', 'ms'],
  diskMiB: ['disk, MiB', 'MiB'],
} as const;

function report(recording: Recording, stretches: readonly Stretch[]): void {
  // Skips the first half, in which caches and the engine's pools fill.
  const steady = stretches.slice(Math.floor(stretches.length / 2));
  const rows = (Object.keys(MEASURES) as (keyof typeof MEASURES)[]).map((measure) => {
    const points = steady
      .map((stretch) => [stretch.minute, stretch[measure]] as const)
      .filter(([, value]) => Number.isFinite(value));
    const trend = trendOf(points);
    const verdict = verdictOf(trend, measure === 'diskMiB' ? diskAllowed(steady) : 0);
    const [name, unit] = MEASURES[measure];
    const common = { bench: 'soak', name, better: null };
    const runs = stretches.map((stretch) => stretch[measure]);
    recording.record({ ...common, measure: 'by stretch', unit, runs, labels: { verdict } });
    const slope = { ...common, measure: 'slope of the second half', unit: 'per minute' as const };
    recording.record({ ...slope, runs: trend === null ? [] : [trend.slope] });
    return [
      name,
      String(points[0]?.[1] ?? ''),
      String(points.at(-1)?.[1] ?? ''),
      ...described(trend),
      verdict,
    ];
  });
  const header = ['second half', 'from', 'to', 'slope per hour', '99 % interval', 'verdict'];
  console.log(table(header, rows, 1));
  reportRequests(recording, stretches);
}

const described = (trend: Trend | null): string[] => {
  if (trend === null) return ['', ''];
  const [slope, low, high] = [trend.slope, trend.low, trend.high].map((value) => rounded(value * 60));
  return [String(slope), `${low} to ${high}`];
};

/** MiB per minute. */
function diskAllowed(stretches: readonly Stretch[]): number {
  const [first, last] = [stretches[0], stretches.at(-1)];
  if (first === undefined || last === undefined || first === last) return 0;
  const events = last.storedEvents - first.storedEvents;
  return (events * BYTES_PER_EVENT) / MIB / (last.minute - first.minute);
}

function reportRequests(recording: Recording, stretches: readonly Stretch[]): void {
  const sum = (of: 'requests' | 'failed'): number =>
    stretches.reduce((total, stretch) => total + stretch[of], 0);
  const [requests, failed] = [sum('requests'), sum('failed')];
  const { minute = 0, streamed = 0, broken = 0, storedEvents = 0 } = stretches.at(-1) ?? {};
  const common = { bench: 'soak', name: 'requests', unit: 'requests/s' as const, better: null };
  recording.record({ ...common, measure: 'rate', runs: [requests / (minute * 60)] });
  const share = [(failed / requests) * 100];
  recording.record({ ...common, measure: 'neither 200 nor 304', unit: '%', better: 'lower', runs: share });
  const streams = { ...common, name: 'event streams', unit: 'count' as const };
  recording.record({ ...streams, measure: 'answers', runs: [streamed] });
  recording.record({ ...streams, measure: 'ended unasked', better: 'lower', runs: [broken] });
  console.log(
    `${requests} requests, ${failed} of them neither 200 nor 304; ${streamed} answers by streams, ${broken} streams ended unasked; ${storedEvents} events stored`,
  );
}
