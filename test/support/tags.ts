import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { kpiRange } from '../../src/analytics/range/ranges.ts';
import * as scopes from '../../src/analytics/scopes.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { type EpochMs, epochMs, type OpenRange } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { type Case, caseArbitrary } from './generate.ts';
import type { Asked } from './generate-segments.ts';
import { expectAgreement, outcome, type Subject } from './oracle/compare.ts';
import type { OracleStore } from './oracle/store.ts';
import { forAll } from './random.ts';

const DAY = 86_400_000;

interface Question {
  readonly name: string;
  readonly basis: scopes.Basis;
  readonly ask: (analytics: Analytics, app: AppId) => Promise<unknown>;
}

const bound = (at: number | null): EpochMs | null => (at === null ? null : epochMs(at));

function questions({ probes }: Case, now: EpochMs): Question[] {
  const { basisOf } = scopes;
  const aboutRange = (range: OpenRange, asked: Asked | undefined): Question[] => {
    const segment = asked?.segment ?? null;
    const kpis = kpisOf(range, now);
    const about: Question[] = [
      {
        name: 'overview',
        basis: scopes.overviewBasis(range),
        ask: (of, app) => of.overview(app, range, segment),
      },
      {
        name: 'pageviews',
        basis: scopes.eventsBasis(range),
        ask: (of, app) => of.pageviews(app, range, undefined, segment),
      },
      {
        name: 'timeSpent',
        basis: scopes.eventsBasis(range),
        ask: (of, app) => of.timeSpent(app, range, undefined, segment),
      },
      {
        name: `events ${JSON.stringify(asked?.events)}`,
        basis: scopes.eventListBasis(range),
        ask: async (of, app) => [
          ...(await of.events(
            app,
            range,
            asked?.events ?? { type: 'custom', property: null },
            undefined,
            segment,
          )),
        ],
      },
      {
        name: 'userGrowth',
        basis: scopes.growthBasis(range),
        ask: (of, app) => of.userGrowth(app, range, segment),
      },
      {
        name: 'locations',
        basis: scopes.sessionsBasis(range),
        ask: (of, app) => of.locations(app, range, undefined, segment),
      },
      {
        name: 'utm',
        basis: scopes.sessionsBasis(range),
        ask: (of, app) => of.utmCampaigns(app, range, segment),
      },
      ...(kpis === null
        ? []
        : [
            {
              name: 'kpis',
              basis: scopes.kpisBasis(kpis),
              ask: (of: Analytics, app: AppId) => of.kpis(app, kpis, segment),
            },
          ]),
      ...(asked === undefined ? [] : more(range, asked)),
    ];
    const label = `${range.from} ${range.to} ${JSON.stringify(segment)}`;
    return about.map(({ name, basis, ask }) => ({
      name: `${name} ${label}`,
      basis: basisOf(basis, segment),
      ask,
    }));
  };
  const segment = probes[0]?.asked?.segment ?? null;
  return [
    { name: 'bounds', basis: scopes.dataBoundsBasis(), ask: (of, app) => of.dataBounds(app) },
    { name: 'heatmap', basis: scopes.heatmapBasis(now), ask: (of, app) => of.trafficHeatmap(app, now) },
    { name: 'activity', basis: scopes.activityBasis(now), ask: (of, app) => of.audienceActivity(app, now) },
    {
      name: `realtime ${JSON.stringify(segment)}`,
      basis: basisOf(scopes.realtimeBasis(now), segment),
      ask: (of, app) => of.realtime(app, now, segment),
    },
    ...probes
      .slice(0, 2)
      .flatMap(({ range, asked }) => aboutRange({ from: bound(range.from), to: bound(range.to) }, asked)),
  ];
}

/** The questions that came with segments. */
const more = (range: OpenRange, { segment, series, by }: Asked): Question[] => [
  {
    name: `series ${JSON.stringify(series)}`,
    basis: scopes.seriesBasis(range, series),
    ask: (of, app) => of.series(app, range, series, segment),
  },
  {
    name: `breakdown ${by}`,
    basis: scopes.breakdownBasis(range, by),
    ask: async (of, app) => [...(await of.breakdown(app, range, by, undefined, segment))],
  },
];

/** Today's KPIs follow the clock; a range out of order has none. */
function kpisOf(range: OpenRange, now: EpochMs) {
  try {
    return kpiRange(range, now);
  } catch {
    return null;
  }
}

/** Runs this many random stories, with a new seed each time. */
export function testTags(on: OracleStore, stories: number): void {
  test('no two different answers have the same tag', { timeout: 0 }, async () => {
    const snapshots = createSnapshots(on.store.db);
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
            await seal({ db: on.store.db, only: at.apps() }, epochMs(moment + 2 * DAY));
          }
          for (const app of at.apps()) {
            // Nothing is written during these questions.
            await Promise.all(
              questions(story, at.clock.now).map(async ({ name, basis, ask }) => {
                const { version } = await snapshots(app, basis.scope);
                const tag = JSON.stringify([app, name, basis.window, version]);
                const answer = await outcome(() => ask(at.analytics, app));
                if (seen.has(tag)) {
                  repeated += 1;
                  expect(answer, tag).toEqual(seen.get(tag));
                }
                compared += 1;
                seen.set(tag, answer);
              }),
            );
          }
          return at;
        };
        await expectAgreement(
          on.subject,
          { ...story, probes: [] },
          { afterArrivals: look, beforeQuestions: look },
        );
      },
      { runs: stories, shrinks: false },
    );
    process.stdout.write(`tags: ${compared} answers, ${repeated} under a tag seen before\n`);
    expect(repeated).toBeGreaterThan(0);
  });
}
