import { z } from 'zod';
import type { Database } from '../../src/clickhouse/database.ts';
import type { Range } from '../../src/domain/time.ts';
import type { Measured } from '../measure.ts';
import { rawDatabase } from '../raw/ask.ts';
import type { Recording } from '../recording.ts';
import { BIG_APP, ranges, type Shape } from '../shape.ts';
import { timed } from '../statistics.ts';
import { storage } from '../storage.ts';
import { USUAL_QUESTIONS, type UsualQuestion, type Way } from './questions.ts';
import { bytesOf, makeUsualTables, USUAL_TABLES } from './tables.ts';

const ROW = z.object({ key: z.string(), n: z.number() });
type Figures = ReadonlyMap<string, number>;

interface Extent {
  readonly shape: Shape;
  readonly runs: number;
  readonly measured: readonly Measured[];
}

/** The service's question that has each figure. The last one is about 28 days of Tehran hours that end now. */
const SERVICE: Readonly<Record<string, readonly [endpoint: string, range: string]>> = {
  'unique sessions by page': ['pageviews', 'ragged'],
  visitors: ['kpis', 'ragged'],
  'visitors by campaign': ['utmCampaigns', 'ragged'],
  'visitors by Tehran hour': ['audienceActivity', 'fixed'],
};

const WAYS: readonly Way[] = ['raw exact', 'raw uniq', 'hourly uniqState'];

/**
 * Counts the same on the same data in the same engine in three usual ways: time, bytes, and the error against the exact
 * figures. The range begins and ends inside an hour. The service's times are those of the whole answer that has the
 * figure.
 */
export async function measureUsualWays(
  recording: Recording,
  db: Database,
  { shape, runs, measured: ofService }: Extent,
): Promise<void> {
  if (recording.stopping) return;
  recording.progress.say('usual ways: making the rollups');
  await makeUsualTables(db);
  const { from, to } = ranges(shape).ragged;
  if (from === null || to === null) return;
  const labels = { ...shape };
  recording.progress.begin('usual ways', USUAL_QUESTIONS.length * WAYS.length);
  for (const question of USUAL_QUESTIONS) {
    recordService(recording, ofService, question.name, labels);
    let exact: Figures = new Map();
    for (const way of WAYS) {
      if (recording.stopping) return;
      recording.progress.step(`${question.name}, ${way}`);
      const measured = await measureWay(db, question, way, { from, to }, runs);
      if (way === 'raw exact') exact = measured.figures;
      const common = { bench: 'usual ways', name: `${question.name}, ${way}`, ofService: false };
      const own = { ...labels, question: question.name, way };
      recording.record({ ...common, labels: own, measure: 'time', unit: 'ms', runs: measured.ms });
      const error = [errorOf(measured.figures, exact)];
      recording.record({ ...common, labels: own, measure: 'error', unit: '%', runs: error });
    }
  }
  const groups = await storage(db);
  const raw = groups.find(({ group }) => group === 'raw')?.bytes ?? 0;
  const all = groups.reduce((sum, { bytes }) => sum + bytes, 0);
  const stored = { bench: 'usual ways', measure: 'storage', unit: 'bytes' as const, labels };
  recording.record({ ...stored, name: 'raw events', ofService: false, runs: [raw] });
  const usual = await bytesOf(db, USUAL_TABLES);
  recording.record({
    ...stored,
    name: 'hourly uniqState, beside raw events',
    ofService: false,
    runs: [usual],
  });
  recording.record({
    ...stored,
    name: 'facts and rollups of the service, beside raw events',
    runs: [all - raw],
  });
}

function recordService(
  recording: Recording,
  measured: readonly Measured[],
  question: string,
  shape: Shape,
): void {
  const [endpoint, range] = SERVICE[question] ?? [];
  const found = measured.find((entry) => entry.case.endpoint === endpoint && entry.case.range === range);
  if (found === undefined) return;
  const add = (way: string, runs: number[]): void => {
    const labels = { ...shape, question, way };
    const common = { bench: 'usual ways', name: `${question}, ${way}`, labels };
    recording.record({ ...common, measure: 'time', unit: 'ms', runs });
    if (found.equal) recording.record({ ...common, measure: 'error', unit: '%', runs: [0] });
  };
  add(found.case.moves ? 'service, polled' : 'service, kept', found.ms);
  add('service, first', found.firstMs);
}

async function measureWay(
  db: Database,
  { name, sql }: UsualQuestion,
  way: Way,
  { from, to }: Range,
  runs: number,
): Promise<{ readonly figures: Figures; readonly ms: number[] }> {
  const ask = () =>
    rawDatabase(db).query({ name: `usual: ${name}`, sql: sql[way], row: ROW }, { app: BIG_APP, from, to });
  // The first run warms the engine's caches.
  const figures = new Map((await ask()).map(({ key, n }) => [key, n]));
  const ms: number[] = [];
  for (let run = 0; run < runs; run++) ms.push((await timed(ask)).ms);
  return { figures, ms };
}

/** The sum of all differences by the sum of the exact figures, in percent. */
function errorOf(figures: Figures, exact: Figures): number {
  let [differences, sum] = [0, 0];
  for (const key of new Set([...figures.keys(), ...exact.keys()])) {
    differences += Math.abs((figures.get(key) ?? 0) - (exact.get(key) ?? 0));
    sum += exact.get(key) ?? 0;
  }
  return sum === 0 ? 0 : (differences / sum) * 100;
}
