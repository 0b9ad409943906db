import fc from 'fast-check';
import { expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { purgeSessions } from '../../src/facts/purge.ts';
import { printedSeed } from './chance.ts';
import { type Case, casesWith } from './generate.ts';
import { randomTraffic } from './generate-traffic.ts';
import { askAbout, expectAgreement, type Hooks, type Subject, UNTIL_CACHED } from './oracle/compare.ts';
import type { OracleStore } from './oracle/store.ts';
import { forAll } from './random.ts';
import type { TestStore } from './store.ts';

/** Ranges for each store of data. */
const PER_CASE = Number(process.env['SEALING_PER_STORE'] ?? 20);
/** Of these, ranges that are also asked for after every run, so that their rows are cached. */
const REPEATED = 2;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * The runs of a story: how far each seals, counted from the first event; whether it repairs late hours; and
 * for how many hours it keeps sessions (null: all). Null stands for no run.
 */
const runsArbitrary = fc.array(
  fc.option(
    fc.record({
      days: fc.constantFrom(-1, 0, 0, 1, 1, 2, 3, 40, 400),
      hours: fc.integer({ min: 0, max: 26 }),
      keptHours: fc.constantFrom(null, 1, 2, 30, 300),
      repairs: fc.boolean(),
    }),
    { nil: null, freq: 2 },
  ),
  { minLength: 1, maxLength: 7 },
);

interface Run {
  readonly days: number;
  readonly hours: number;
  readonly keptHours: number | null;
  /** If false, late events wait, and only new hours are sealed. */
  readonly repairs: boolean;
}

/**
 * Seals at given moments of the arrivals and before the questions. Repeated questions in between fill the
 * caches.
 */
function sealingAt({ db }: TestStore, { probes }: Case, start: number, runs: readonly (Run | null)[]): Hooks {
  let next = 0;
  const run = async (at: Subject, times: number): Promise<Subject> => {
    const moment = runs[next++ % runs.length];
    if (moment !== null && moment !== undefined) {
      const now = epochMs(start + moment.days * DAY + moment.hours * HOUR);
      const deps = { db, only: at.apps() };
      const repairAfterMs = moment.repairs ? 0 : Number.POSITIVE_INFINITY;
      await seal(deps, now, { repairAfterMs });
      if (moment.keptHours !== null)
        await purgeSessions(deps, now, { keptMs: moment.keptHours * HOUR, stepMs: 0 });
    }
    for (let time = 0; time < times; time++) {
      await askAbout(at, at.apps(), probes.slice(0, REPEATED));
    }
    return at;
  };
  return {
    afterArrivals: (at) => run(at, 1),
    beforeQuestions: (at) => run(at, UNTIL_CACHED),
  };
}

/**
 * Asks all questions about `wanted` random ranges of data that was sealed at random moments. The seed is new
 * each time.
 */
export function testSealing(on: OracleStore, wanted: number): void {
  test('answers stay exact whenever sealing ran', { timeout: 0 }, async () => {
    let [cases, ranges] = [0, 0];
    while (ranges < wanted) {
      await forAll(
        fc.tuple(casesWith(PER_CASE), runsArbitrary),
        async ([story, runs]) => {
          if (ranges >= wanted) return;
          const starts = story.batches.flatMap(({ deliveries }) =>
            deliveries.map(({ session }) => session.startedAt),
          );
          ranges += await expectAgreement(
            on.subject,
            story,
            sealingAt(on.store, story, Math.min(...starts), runs),
          );
          cases += 1;
        },
        { runs: 10, shrinks: process.env['SEALING_SHRINK'] !== undefined },
      );
    }
    process.stdout.write(`sealing: ${ranges} ranges of ${cases} stores of data\n`);
    expect(ranges).toBeGreaterThanOrEqual(wanted);
  });
}

/** One story of several weeks. */
export function testWeeksOfSealing(on: OracleStore): void {
  test('answers stay exact on weeks of traffic with late batches', { timeout: 0 }, async () => {
    const options = { apps: 1, sessions: 800, visitors: 250, days: 35, probes: 12 };
    const from = new Date('2022-08-25T00:00:00Z').getTime();
    const runs = [
      { days: 10, hours: 3, keptHours: 48, repairs: true },
      null,
      null,
      { days: 36, hours: 1, keptHours: 200, repairs: false },
      { days: 20, hours: 5, keptHours: 2, repairs: true },
    ];
    const seed = printedSeed('weeks of sealing');
    const story = randomTraffic({ seed, from, ...options });
    await expectAgreement(on.subject, story, sealingAt(on.store, story, from, runs));
  });
}
