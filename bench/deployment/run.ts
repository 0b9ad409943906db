import { encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { newHistogram } from '../histogram.ts';
import type { Recording } from '../recording.ts';
import { COMPARABLE_RUNS, median } from '../statistics.ts';
import { checked, Deployment } from './deployment.ts';
import { chooseRates, pollAll } from './polls.ts';
import { askAll, sayHowLong } from './questions.ts';
import { newSite, type Site } from './site.ts';

/** The benches that need nothing but an address and a key. */
export type DeploymentBench = 'data' | 'queries' | 'http' | 'ingest';

export interface Extent {
  readonly url: string;
  readonly keys: readonly string[];
  /** The first one stores the data that the others ask about. */
  readonly benches: readonly DeploymentBench[];
  readonly events: number;
  readonly days: number;
  readonly runs: number;
  readonly seconds: number;
  readonly rates: readonly number[];
}

const SESSIONS_PER_BATCH = 20;
const SENDERS = 4;

/** Measures a running service through its public endpoints, on an app of its own, which it deletes at the end. */
export async function benchDeployment(recording: Recording, extent: Extent): Promise<void> {
  const deployment = await checked(new Deployment(extent.url, extent.keys, recording.signal));
  try {
    const site = await newSite(deployment);
    recording.progress.say(`made the app ${site.id}`);
    try {
      await benchSite(recording, site, extent);
    } finally {
      await site.remove(recording);
    }
  } finally {
    deployment.close();
  }
}

async function benchSite(recording: Recording, site: Site, extent: Extent): Promise<void> {
  const { benches, events, days } = extent;
  // Said before anything is measured.
  if (benches.includes('queries')) await sayHowLong(recording, site.deployment, extent.runs);
  const rates = benches.includes('http') ? await chooseRates(recording, site.deployment, extent) : [];
  const batches = await site.seed(recording, extent);
  const common = { name: 'seeding, one batch after the other', labels: { events, days } };
  recording.record({
    ...common,
    bench: 'data',
    measure: 'acknowledged after',
    unit: 'ms',
    runs: batches.map(({ ms }) => ms),
  });
  recording.record({
    ...common,
    bench: 'data',
    measure: 'throughput',
    unit: 'events/s',
    better: 'higher',
    runs: batches.map((batch) => (batch.events * 1000) / batch.ms),
    exact: await countIsExact(site),
  });
  if (benches.includes('queries')) await askAll(recording, site, extent);
  if (benches.includes('ingest')) await storeBatches(recording, site, extent.seconds);
  if (benches.includes('http')) await pollAll(recording, site, { seconds: extent.seconds, rates });
}

/** Four senders, each of which sends its next batch after the answer to the last one. */
async function storeBatches(recording: Recording, site: Site, seconds: number): Promise<void> {
  recording.progress.begin('ingest', 1);
  recording.progress.step(`${SENDERS} senders for ${seconds} s`);
  const histogram = newHistogram();
  const slices = Array.from({ length: Math.max(COMPARABLE_RUNS, Math.floor(seconds)) }, () => ({
    events: 0,
    times: [] as number[],
  }));
  const began = performance.now();
  const sliceMs = (seconds * 1000) / slices.length;
  const send = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      recording.signal.throwIfAborted();
      const { events, ms } = await site.storeNew(SESSIONS_PER_BATCH);
      const slice = slices[Math.floor((performance.now() - began) / sliceMs)];
      if (slice !== undefined) slice.events += events;
      slice?.times.push(ms);
      histogram.recordValue(Math.round(ms * 1000));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  const name = `batches of ${SESSIONS_PER_BATCH} sessions, ${SENDERS} senders`;
  const common = { bench: 'ingest', name, labels: { seconds } };
  const runs = slices.map((slice) => (slice.events * 1000) / sliceMs);
  const exact = await countIsExact(site);
  recording.record({ ...common, measure: 'throughput', unit: 'events/s', better: 'higher', runs, exact });
  recording.record({
    ...common,
    measure: 'acknowledged after',
    unit: 'ms',
    runs: slices.map(({ times }) => median(times)),
    histogram: encodeIntoCompressedBase64(histogram),
  });
}

/** Whether the next question counts every acknowledged pageview. */
async function countIsExact(site: Site): Promise<boolean> {
  const path = `/api/v1/sessions/pageviews?appId=${site.id}`;
  const { text } = await site.deployment.patiently(path, { key: site.deployment.firstKey });
  const counted = (JSON.parse(text) as readonly { readonly views: number }[]).reduce(
    (sum, { views }) => sum + views,
    0,
  );
  return counted === site.pageviews;
}
