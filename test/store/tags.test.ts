import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kpiRange } from '../../src/analytics/ranges.ts';
import type { Analytics } from '../../src/analytics/results.ts';
import * as scopes from '../../src/analytics/scopes.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { type EpochMs, epochMs, type OpenRange } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createSnapshots, type ReadSnapshot } from '../../src/facts/snapshots.ts';
import { type Case, caseArbitrary } from '../support/generate.ts';
import { expectAgreement, type Subject } from '../support/oracle/compare.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { forAll } from '../support/random.ts';
import { type TestStore, testStore } from '../support/store.ts';

const CASES = Number(process.env['TAG_CASES'] ?? 15);
const DAY = 86_400_000;

let store: TestStore;
let subject: Subject;
let snapshots: ReadSnapshot;

beforeAll(async () => {
  store = await testStore();
  subject = await subjectOn(store.db);
  snapshots = createSnapshots(store.db);
});

afterAll(async () => {
  await store.close();
});

interface Question {
  readonly name: string;
  readonly basis: scopes.Basis;
  readonly ask: (analytics: Analytics, app: AppId) => Promise<unknown>;
}

const bound = (at: number | null): EpochMs | null => (at === null ? null : epochMs(at));

function questions({ probes }: Case, now: EpochMs): Question[] {
  const aboutRange = (range: OpenRange): Question[] => {
    const kpis = kpisOf(range, now);
    const about: Question[] = [
      { name: 'overview', basis: scopes.overviewBasis(range), ask: (of, app) => of.overview(app, range) },
      { name: 'pageviews', basis: scopes.eventsBasis(range), ask: (of, app) => of.pageviews(app, range) },
      { name: 'timeSpent', basis: scopes.eventsBasis(range), ask: (of, app) => of.timeSpent(app, range) },
      { name: 'userGrowth', basis: scopes.growthBasis(range), ask: (of, app) => of.userGrowth(app, range) },
      { name: 'locations', basis: scopes.sessionsBasis(range), ask: (of, app) => of.locations(app, range) },
      { name: 'utm', basis: scopes.sessionsBasis(range), ask: (of, app) => of.utmCampaigns(app, range) },
      ...(kpis === null
        ? []
        : [
            {
              name: 'kpis',
              basis: scopes.kpisBasis(kpis),
              ask: (of: Analytics, app: AppId) => of.kpis(app, kpis),
            },
          ]),
    ];
    return about.map((question) => ({ ...question, name: `${question.name} ${range.from} ${range.to}` }));
  };
  return [
    { name: 'bounds', basis: scopes.dataBoundsBasis(), ask: (of, app) => of.dataBounds(app) },
    { name: 'heatmap', basis: scopes.heatmapBasis(now), ask: (of, app) => of.trafficHeatmap(app) },
    { name: 'activity', basis: scopes.activityBasis(now), ask: (of, app) => of.audienceActivity(app) },
    ...probes
      .slice(0, 2)
      .flatMap(({ range }) => aboutRange({ from: bound(range.from), to: bound(range.to) })),
  ];
}

/** Today's KPIs follow the clock; a range that is out of order has none. */
function kpisOf(range: OpenRange, now: EpochMs) {
  try {
    return kpiRange(range, () => now);
  } catch {
    return null;
  }
}

test('a tag never stays the same when the answer differs', { timeout: 0 }, async () => {
  let [compared, repeated] = [0, 0];
  await forAll(
    fc.tuple(caseArbitrary, fc.array(fc.nat({ max: 3 }), { minLength: 1 })),
    async ([story, choices]) => {
      const seen = new Map<string, unknown>();
      let step = 0;
      const look = async (at: Subject): Promise<Subject> => {
        const choice = choices[step++ % choices.length] ?? 0;
        const moment = story.moments[choice % story.moments.length] ?? 0;
        at.clock.now = epochMs(moment);
        if (choice === 0) {
          await seal({ db: store.db, only: at.apps() }, epochMs(moment + 2 * DAY));
        }
        for (const app of at.apps()) {
          for (const { name, basis, ask } of questions(story, at.clock.now)) {
            const { version } = await snapshots(app, basis.scope);
            const tag = JSON.stringify([app, name, basis.window, version]);
            const answer = await ask(at.analytics, app);
            if (seen.has(tag)) {
              repeated += 1;
              expect(answer, tag).toEqual(seen.get(tag));
            }
            compared += 1;
            seen.set(tag, answer);
          }
        }
        return at;
      };
      await expectAgreement(
        subject,
        { ...story, probes: [] },
        { afterArrivals: look, beforeQuestions: look },
      );
    },
    { runs: CASES, shrinks: false },
  );
  process.stdout.write(`tags: ${compared} answers, ${repeated} under a tag seen before\n`);
  expect(repeated).toBeGreaterThan(0);
});

test('a closed range keeps its tag while later data comes in, and loses it to late data', async () => {
  const [app] = [crypto.randomUUID() as AppId];
  const send = (startedAt: number) =>
    subject.deliver({ id: app, domain: 'https://shop.example' }, crypto.randomUUID(), [
      {
        session: { id: `s${startedAt}`, visitorId: 'v', startedAt },
        context: {},
        events: [{ type: 'pageview', timestamp: startedAt, path: '/' }],
      },
    ]);
  const from = epochMs(Date.UTC(2026, 4, 1));
  const range = { from, to: epochMs(from + DAY - 1) };
  const tags = async () =>
    Promise.all(
      [scopes.overviewBasis(range), scopes.eventsBasis(range), scopes.growthBasis(range)].map(
        async ({ scope }) => (await snapshots(app, scope)).version,
      ),
    );
  await send(from + 5);
  const before = await tags();
  await send(from + 3 * DAY);
  expect(await tags()).toEqual(before);
  await send(from + 7);
  const after = await tags();
  after.forEach((version, i) => {
    expect(version).not.toEqual(before[i]);
  });
});
