import { createAnalytics } from '../src/analytics/analytics.ts';
import type { Analytics } from '../src/analytics/answers/results.ts';
import {
  activityBasis,
  type Basis,
  breakdownBasis,
  dataBoundsBasis,
  eventListBasis,
  eventsBasis,
  growthBasis,
  heatmapBasis,
  kpisBasis,
  overviewBasis,
  realtimeBasis,
  seriesBasis,
  sessionsBasis,
} from '../src/analytics/scopes.ts';
import { byName } from '../src/domain/by-name.ts';
import { asQuestion } from '../src/domain/caller.ts';
import { sharingOf } from '../src/sharing/choose.ts';
import type { Snapshot } from '../src/snapshots/read.ts';
import { createSnapshots, type ReadSnapshot } from '../src/snapshots/snapshots.ts';
import { untilSteady } from '../src/snapshots/steady.ts';

type Bases = { readonly [Name in keyof Analytics]: (...args: Parameters<Analytics[Name]>) => Basis };

const BASES: Bases = {
  dataBounds: dataBoundsBasis,
  overview: (_, range) => overviewBasis(range),
  kpis: (_, current) => kpisBasis(current),
  pageviews: (_, range) => eventsBasis(range),
  timeSpent: (_, range) => eventsBasis(range),
  events: (_, range) => eventListBasis(range),
  userGrowth: (_, range) => growthBasis(range),
  trafficHeatmap: (_, now) => heatmapBasis(now),
  audienceActivity: (_, now) => activityBasis(now),
  locations: (_, range) => sessionsBasis(range),
  utmCampaigns: (_, range) => sessionsBasis(range),
  series: (_, range, question) => seriesBasis(range, question),
  breakdown: (_, range, by) => breakdownBasis(range, by),
  realtime: (_, now) => realtimeBasis(now),
};
const NAMES = Object.keys(BASES) as (keyof Analytics)[];
const ALL_EVENTS = dataBoundsBasis().scope;

type Deps = Parameters<typeof createAnalytics>[0] & { readonly snapshots?: ReadSnapshot };

/**
 * All questions of a store without HTTP, keys and kept answers, for benches and tests. Each is answered from a snapshot of its
 * own, until the answer is steady, as the service answers a question that it cannot answer from its cache.
 */
export function steadyAnalytics({ db, snapshots = createSnapshots(db), ...deps }: Deps): Analytics {
  const from = createAnalytics({ db, ...deps });
  const begun = sharingOf(db).begun(snapshots);
  const asked = (name: keyof Analytics) => {
    const basisOf = BASES[name] as (...args: unknown[]) => Basis;
    return (...args: Parameters<Analytics[typeof name]>): Promise<unknown> => {
      const [app] = args;
      const read = () => snapshots(app, ALL_EVENTS);
      const compute = async (snapshot: Snapshot) => {
        const ask = from(snapshot)[name] as (...args: unknown[]) => Promise<unknown>;
        return { value: await ask(...args), begun: await begun(app, ALL_EVENTS) };
      };
      return asQuestion(async () => {
        const first = await read();
        return (await untilSteady({ first, again: read, to: basisOf(...args).end, compute })).value;
      });
    };
  };
  return byName(NAMES, asked) as unknown as Analytics;
}
