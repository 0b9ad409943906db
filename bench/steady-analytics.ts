import { createAnalytics } from '../src/analytics/analytics.ts';
import type { Analytics } from '../src/analytics/answers/results.ts';
import type { Memory } from '../src/analytics/memory/memory.ts';
import { realtimeWindow } from '../src/analytics/range/ranges.ts';
import { dataBoundsBasis } from '../src/analytics/scopes.ts';
import type { Database } from '../src/clickhouse/database.ts';
import { byName } from '../src/domain/by-name.ts';
import { asQuestion } from '../src/domain/caller.ts';
import type { EpochMs } from '../src/domain/time.ts';
import { sharingOf } from '../src/sharing/choose.ts';
import type { Snapshot } from '../src/snapshots/read.ts';
import { createSnapshots, type ReadSnapshot } from '../src/snapshots/snapshots.ts';
import { untilSteady } from '../src/snapshots/steady.ts';

type Ends = { readonly [Name in keyof Analytics]: (...args: Parameters<Analytics[Name]>) => EpochMs | null };

/** The end of each question's range of events; null if it has none. */
const ENDS: Ends = {
  dataBounds: () => null,
  overview: (_, { to }) => to,
  kpis: (_, { to }) => to,
  pageviews: (_, { to }) => to,
  timeSpent: (_, { to }) => to,
  events: (_, { to }) => to,
  userGrowth: (_, { to }) => to,
  trafficHeatmap: () => null,
  audienceActivity: () => null,
  locations: () => null,
  utmCampaigns: () => null,
  series: (_, { to }) => to,
  breakdown: () => null,
  realtime: (_, now) => realtimeWindow(now).to,
};
const NAMES = Object.keys(ENDS) as (keyof Analytics)[];
const ALL_EVENTS = dataBoundsBasis().scope;

interface Deps {
  readonly db: Database;
  readonly snapshots?: ReadSnapshot;
  readonly memory?: Memory;
  readonly manyEvents?: number;
}

/**
 * All questions of a store without HTTP, keys and kept answers, for benches and tests. Each is answered from a snapshot of its
 * own, until the answer is steady, as the service answers a question that it cannot answer from its cache.
 */
export function steadyAnalytics({ db, snapshots = createSnapshots(db), ...deps }: Deps): Analytics {
  const from = createAnalytics({ db, ...deps });
  const begun = sharingOf(db).begun(snapshots);
  const asked = (name: keyof Analytics) => {
    const endOf = ENDS[name] as (...args: unknown[]) => EpochMs | null;
    return (...args: Parameters<Analytics[typeof name]>): Promise<unknown> => {
      const [app] = args;
      const read = () => snapshots(app, ALL_EVENTS);
      const compute = async (snapshot: Snapshot) => {
        const ask = from(snapshot)[name] as (...args: unknown[]) => Promise<unknown>;
        return { value: await ask(...args), begun: await begun(app, ALL_EVENTS) };
      };
      return asQuestion(async () => {
        const first = await read();
        return (await untilSteady({ first, again: read, to: endOf(...args), compute })).value;
      });
    };
  };
  return byName(NAMES, asked) as unknown as Analytics;
}
