import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Analytics } from '../src/analytics/answers/results.ts';
import { Memory } from '../src/analytics/memory/memory.ts';
import { type Database, openDatabase } from '../src/clickhouse/database.ts';
import { appId } from '../src/domain/ids.ts';
import { createSealer } from '../src/facts/sealer.ts';
import { removeFolder } from '../src/remove-folder.ts';
import { arrive } from './arrivals.ts';
import type { Case } from './cases.ts';
import { createRawAnalytics } from './raw/analytics.ts';
import type { Recording } from './recording.ts';
import { NOW } from './shape.ts';
import { timed } from './statistics.ts';
import { steadyAnalytics } from './steady-analytics.ts';
import { startStoring } from './storing.ts';

/** Measurements of a case while events arrive. */
export interface Live {
  readonly case: Case;
  readonly ms: number[];
  /** While events are being stored all the time, each after another batch. */
  readonly storingMs: number[];
  /** While some of what comes in is late, and the sealing job runs. */
  readonly lateMs: number[];
  equal: boolean;
}

interface How {
  readonly runs: number;
  /** From the arrival of events to the question. */
  readonly pauseMs: number;
  readonly factsCacheBytes: number;
}

/** The first of the small ones. */
const SMALL_APP = appId('5a110000-0000-4000-8000-000000000001');
/** Most merges after an insert are done by then. */
export const MERGES_MS = 1_000;
/** The number of questions before the measurement, so that all caches are filled. */
const WARM_UP = 4;

/**
 * Asks the questions that see the last events, each after more events have arrived. Uses a copy of the data
 * set, which is deleted afterwards. At the end the answers are compared with the raw ones.
 */
export async function measureLive(
  recording: Recording,
  folder: string,
  cases: readonly Case[],
  how: How,
): Promise<readonly Live[]> {
  const copy = mkdtempSync(join(folder, '..', 'live-'));
  try {
    recording.progress.say('live: copying the data set');
    cpSync(folder, copy, { recursive: true });
    const db = await openDatabase({ kind: 'embedded', dataDir: copy, database: 'analytics' });
    try {
      return await askedLive(recording, db, cases, how);
    } finally {
      await db.close();
    }
  } finally {
    removeFolder(copy);
  }
}

async function askedLive(
  recording: Recording,
  db: Database,
  cases: readonly Case[],
  { runs, pauseMs, factsCacheBytes }: How,
): Promise<readonly Live[]> {
  const { progress } = recording;
  const analytics = steadyAnalytics({ db, memory: new Memory(factsCacheBytes) });
  const raw = createRawAnalytics(db);
  const live = cases
    .filter(({ range }) => range === 'ending now' || range === 'fixed')
    .map((entry): Live => ({ case: entry, ms: [], storingMs: [], lateMs: [], equal: true }));
  for (const { case: entry } of live) for (let time = 0; time < WARM_UP; time++) await entry.ask(analytics);
  const compare = async (): Promise<void> => {
    for (const seen of live) {
      if (recording.stopping) return;
      progress.say(`live: the raw answer to ${seen.case.endpoint}`);
      seen.equal &&= isDeepStrictEqual(await seen.case.ask(analytics), await seen.case.ask(raw));
    }
  };
  const rounds = async (name: string, each: (seen: Live, turn: number) => Promise<void>): Promise<void> => {
    progress.begin(name, runs * live.length);
    for (let round = 0; round < runs; round++) {
      for (const [i, seen] of inTurn(live, round).entries()) {
        if (recording.stopping) return;
        progress.step(seen.case.endpoint);
        await each(seen, round * live.length + i);
      }
    }
  };
  const measured = async ({ case: entry }: Live, into: number[]): Promise<void> => {
    into.push((await timed(() => entry.ask(analytics))).ms);
  };
  await rounds('live', async (seen, turn) => {
    await arrive(db, turn);
    await whileMerging(analytics, pauseMs);
    await measured(seen, seen.ms);
  });
  if (recording.stopping) return live;
  const storing = await startStoring(db);
  try {
    await rounds('storing', async (seen) => {
      // Without that, many questions fit between two batches, and nothing is new for them.
      await storing.next();
      await measured(seen, seen.storingMs);
    });
  } finally {
    await storing.stop();
  }
  await compare();
  const sealer = createSealer({ db, clock: () => NOW, log: { info: () => undefined, warn: console.log } });
  sealer.start();
  await rounds('late', async (seen, turn) => {
    await arrive(db, runs * live.length + turn, true);
    await whileMerging(analytics, pauseMs);
    await measured(seen, seen.lateMs);
  });
  await sealer.stop();
  await compare();
  return live;
}

/**
 * Returns all entries, beginning with another one in each round. The engine merges parts after every tenth insert or so:
 * in the same order, one and the same question would pay for that in every round.
 */
const inTurn = <Entry>(entries: readonly Entry[], round: number): readonly Entry[] => {
  const first = round % entries.length;
  return [...entries.slice(first), ...entries.slice(0, first)];
};

/**
 * Keeps the process busy, as other pollers would. After a second of sleep the processor is slow at first, and
 * a question takes twice the time.
 */
async function whileMerging(analytics: Analytics, pauseMs: number): Promise<void> {
  const end = performance.now() + pauseMs;
  while (performance.now() < end) await analytics.overview(SMALL_APP, { from: null, to: null });
}
