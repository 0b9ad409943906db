import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { heavyQuestion, heldBy } from '../test/faults/heavy.ts';
import { type Running, running } from '../test/faults/support.ts';
import { openLoop, type Sample, statusesOf } from '../test/support/open-loop.ts';
import { Crowd, type CrowdApp, type CrowdSize, EVENTS_IN_BATCH } from './crowd.ts';
import type { Recording } from './recording.ts';
import { percentile, rounded, runsFor } from './statistics.ts';
import { figure, table } from './table.ts';

export interface AppsOptions extends Omit<CrowdSize, 'smallEvents'> {
  /** The number of apps that get events. */
  readonly active: number;
  readonly eventsPerSecond: number;
  readonly minutes: number;
}

const SMALL_EVENTS = 20;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** An hour is ripe ten minutes after its end. A long load begins so many minutes after it, and meets that moment. */
const BEGIN_MINUTE = 5;
const LONG_MINUTES = 5;
const LOOK_MS = 5_000;
/** Cold apps that are asked in each phase, of each size. */
const ASKED = 100;
/** The range of the second question about an app consists of other buckets than that of the first. */
const OTHER_DAYS = 23;
/** The longest that a ripe hour may wait for sealing. */
const MOST_SECONDS = 300;
const CHECKED = 20;

const Overview = z.object({ page: z.object({ pageviews: z.number() }) });

/**
 * Makes many apps of which some are large, and sends events to a part of them. Measures the memory at each step, how long
 * a ripe hour waits for sealing, and the first question about an app beside the next one. At the end it compares figures
 * of some apps with what was acknowledged.
 */
export async function benchApps(recording: Recording, options: AppsOptions): Promise<void> {
  const { progress, signal } = recording;
  progress.say('apps: starting');
  const service = await running();
  const labels = { ...options };
  const memory = (name: string): void => {
    const { rssMiB, peakMiB } = heldBy(service.pid);
    const common = { bench: 'apps', name, unit: 'MiB' as const, labels };
    recording.record({ ...common, measure: 'memory', runs: [rssMiB] });
    recording.record({ ...common, measure: 'peak', runs: [peakMiB] });
    rows.push([name, `${Math.round(rssMiB)} MiB, peak ${Math.round(peakMiB)}`]);
  };
  const rows: string[][] = [];
  try {
    memory('at the start');
    const crowd = new Crowd(service, { ...options, smallEvents: SMALL_EVENTS });
    const hundreds = Math.ceil(options.apps / 100);
    progress.begin('apps', 2 * hundreds);
    await crowd.make(() => progress.step('making apps'), signal);
    memory('with the apps');
    await crowd.fill(() => progress.step('storing their history'), signal);
    memory('with their history');
    await untilSealed(recording, service);
    memory('sealed');
    const quiet = await firstQuestions(service, crowd, 0, signal);
    memory('asked about cold apps');
    const active = crowd.active(options.active);
    await fillLastHour(recording, crowd, active, options);
    const load = await underLoad(recording, service, crowd, active, options);
    memory('after the load');
    progress.say('apps: sending refused batches again');
    await crowd.sendAgain(signal);
    progress.end();
    const exact = await isExact(service, active);
    for (const asked of [...quiet, ...load.asked]) rows.push(...recordQuestions(recording, asked, labels));
    rows.push(...recordLoad(recording, load, exact, labels));
  } finally {
    await service.remove();
    progress.end();
    if (rows.length > 0) console.log(table(['', 'measured'], rows, 2));
  }
}

/** Waits until nothing is left to seal, or the rest is not ripe. */
async function untilSealed({ progress, signal }: Recording, service: Running): Promise<void> {
  const since = Date.now();
  for (;;) {
    const { lag, measuredAt } = await sealingOf(service);
    if (measuredAt >= since && lag === 0) return;
    const found = measuredAt < since ? 'not measured yet' : `${Math.round(lag)} s are not sealed`;
    progress.say(`apps: sealing their history, ${found}`);
    await sleep(LOOK_MS, undefined, { signal });
  }
}

const Readiness = z.object({
  sealing: z.object({
    lagSeconds: z.object({ page: z.number(), session: z.number() }),
    measuredAt: z.iso.datetime().nullable(),
  }),
});

interface Sealing {
  /** How much of the app that is furthest behind is ripe but not sealed, in seconds. */
  readonly lag: number;
  /** The end of the pass after which the service measured it, in ms; 0 before the first one. */
  readonly measuredAt: number;
}

async function sealingOf(service: Running): Promise<Sealing> {
  const { lagSeconds, measuredAt } = Readiness.parse((await service.ask('/readyz')).json).sealing;
  return {
    lag: Math.max(lagSeconds.page, lagSeconds.session),
    measuredAt: measuredAt === null ? 0 : Date.parse(measuredAt),
  };
}

interface Asked {
  readonly name: string;
  readonly cold: readonly number[];
  readonly warm: readonly number[];
}

/**
 * Asks about apps that this process was not asked about, and again over a range that shares no cached rows. One question
 * at a time.
 */
async function firstQuestions(
  service: Running,
  crowd: Crowd,
  phase: 0 | 1,
  signal: AbortSignal,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const [size, apps] of [
    ['large', crowd.large],
    ['small', crowd.small],
  ] as const) {
    const half = Math.floor(apps.length / 2);
    const own = apps.slice(phase * half, (phase + 1) * half).slice(0, ASKED);
    const [cold, warm]: [number[], number[]] = [[], []];
    for (const app of own) {
      if (signal.aborted) break;
      cold.push(await timeOf(service, heavyQuestion(app), app));
      warm.push(await timeOf(service, heavyQuestion(app, OTHER_DAYS), app));
    }
    asked.push({ name: `${size} apps, ${phase === 0 ? 'without load' : 'under load'}`, cold, warm });
  }
  return asked;
}

async function timeOf(service: Running, question: string, { key }: CrowdApp): Promise<number> {
  const started = performance.now();
  const { status, text } = await service.ask(question, { key });
  if (status !== 200) throw new Error(`${status} ${text.slice(0, 200)}`);
  return performance.now() - started;
}

/** Stores the last whole hour of the load, so that all its apps have an hour that becomes ripe at once. */
async function fillLastHour(
  { progress, signal }: Recording,
  crowd: Crowd,
  active: readonly CrowdApp[],
  { eventsPerSecond, minutes }: AppsOptions,
): Promise<void> {
  if (minutes >= LONG_MINUTES) {
    const now = Date.now();
    const begin = Math.floor(now / HOUR_MS) * HOUR_MS + BEGIN_MINUTE * MINUTE_MS;
    const wait = begin >= now ? begin - now : begin + HOUR_MS - now;
    progress.say(`apps: waiting until ${new Date(now + wait).toISOString()}, before an hour is ripe`);
    await sleep(wait, undefined, { signal });
  }
  progress.say('apps: storing the last whole hour');
  const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
  await crowd.fillHour(active, start, Math.round((eventsPerSecond * 3_600) / active.length), signal);
}

interface Load {
  readonly samples: readonly Sample<'batch'>[];
  readonly seconds: number;
  /**
   * The seconds since the service last measured that nothing is left to seal, one look after the other. No ripe hour
   * has waited longer.
   */
  readonly waits: readonly number[];
  readonly peakMiB: number;
  readonly asked: readonly Asked[];
}

async function underLoad(
  { progress, signal }: Recording,
  service: Running,
  crowd: Crowd,
  active: readonly CrowdApp[],
  { eventsPerSecond, minutes }: AppsOptions,
): Promise<Load> {
  const ms = minutes * MINUTE_MS;
  const waits: number[] = [];
  let peakMiB = 0;
  let isOver = false;
  let sealedAt = Date.now();
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const { lag, measuredAt } = await sealingOf(service);
      if (lag === 0) sealedAt = Math.max(sealedAt, measuredAt);
      waits.push((Date.now() - sealedAt) / 1_000);
      peakMiB = Math.max(peakMiB, heldBy(service.pid).rssMiB);
      progress.say(
        `apps: under load, all sealed ${Math.round(waits.at(-1) ?? 0)} s ago, ${Math.round(peakMiB)} MiB`,
      );
      await sleep(Math.min(LOOK_MS, ms / 4), undefined, { signal }).catch(() => undefined);
    }
  };
  const stream = {
    kind: 'batch' as const,
    perSecond: eventsPerSecond / EVENTS_IN_BATCH,
    ask: () => crowd.send(active),
  };
  const watching = watch();
  const [samples, asked] = await Promise.all([
    openLoop([stream], ms, signal),
    firstQuestions(service, crowd, 1, signal),
  ]);
  isOver = true;
  await watching;
  return { samples, seconds: ms / 1_000, waits, peakMiB, asked };
}

/** Compares the pageviews of some apps with the events that were acknowledged. */
async function isExact(service: Running, apps: readonly CrowdApp[]): Promise<boolean> {
  const every = Math.max(1, Math.floor(apps.length / CHECKED));
  for (const app of apps.filter((_, i) => i % every === 0)) {
    const { json } = await service.ask(`/api/v1/sessions/overview/extended?appId=${app.id}`, {
      key: app.key,
    });
    if (Overview.parse(json).page.pageviews !== app.events) return false;
  }
  return true;
}

function recordQuestions(recording: Recording, { name, cold, warm }: Asked, labels: AppsOptions): string[][] {
  const common = { bench: 'apps', name, unit: 'ms' as const, labels: { ...labels } };
  recording.record({ ...common, measure: 'first', runs: [...cold] });
  recording.record({ ...common, measure: 'next', runs: [...warm] });
  const both = (runs: readonly number[]): string => {
    const p95 = runs.length < runsFor(0.95) ? '' : `, p95 ${figure(percentile(runs, 0.95))}`;
    return `p50 ${figure(percentile(runs, 0.5))}${p95}`;
  };
  return [[name, `first question ${both(cold)} ms; next ${both(warm)} ms`]];
}

/** Such as `503: 12 batches, `. */
const refusals = (refused: readonly (readonly [string, number])[]): string =>
  refused.map(([status, count]) => `${status}: ${count} batches, `).join('');

function recordLoad(
  recording: Recording,
  { samples, seconds, waits, peakMiB }: Load,
  exact: boolean,
  labels: AppsOptions,
): string[][] {
  const common = { bench: 'apps', name: 'under load', labels: { ...labels } };
  const stored = samples.filter(({ status }) => status === 200);
  const refused = Object.entries(statusesOf(samples, 'batch')).filter(([status]) => status !== '200');
  const perSecond = (stored.length * EVENTS_IN_BATCH) / seconds;
  const most = Math.max(0, ...waits);
  recording.record({
    ...common,
    measure: 'throughput',
    unit: 'events/s',
    better: 'higher',
    runs: [perSecond],
    exact,
  });
  recording.record({ ...common, measure: 'batch', unit: 'ms', runs: stored.map(({ ms }) => ms) });
  recording.record({
    ...common,
    measure: 'since all was sealed, s',
    unit: 'count',
    better: null,
    runs: [...waits],
  });
  recording.record({ ...common, measure: 'peak', unit: 'MiB', runs: [peakMiB] });
  return [
    ['under load', `${Math.round(perSecond)} events/s, ${refusals(refused)}peak ${Math.round(peakMiB)} MiB`],
    [
      'since all was sealed',
      `at most ${rounded(most)} s: ${most <= MOST_SECONDS ? 'within' : 'MORE THAN'} ${MOST_SECONDS} s`,
    ],
    ['figures equal what was acknowledged', exact ? 'yes' : 'NO'],
  ];
}
