import type { Analytics } from '../../../src/analytics/answers/results.ts';
import type { AppId } from '../../../src/domain/ids.ts';
import type { Lexicon } from './lexicon.ts';
import { type Delivery, type Session, sessionsOf } from './model.ts';
import { overview } from './overview.ts';
import { dataBounds, kpis, locations, pageviews, timeSpent, userGrowth, utmCampaigns } from './questions.ts';
import { audienceActivity, trafficHeatmap } from './windows.ts';

/** The questions of `Analytics`, answered synchronously. The oracle has a clock of its own. */
export type Oracle = {
  readonly [Question in keyof Analytics]: (
    ...args: Question extends 'trafficHeatmap' | 'audienceActivity'
      ? [app: AppId]
      : Parameters<Analytics[Question]>
  ) => Awaited<ReturnType<Analytics[Question]>>;
};

/**
 * Answers questions from the accepted deliveries alone, in their order of arrival, by walking over all events
 * for every figure. It is slow and plain, so that it can be checked by reading. `now` is read at each
 * question.
 */
export function createOracle(deliveries: readonly Delivery[], lexicon: Lexicon, now: () => number): Oracle {
  const sessions = new Map<string, readonly Session[]>();
  const of = (app: string): readonly Session[] => {
    const known = sessions.get(app);
    if (known !== undefined) return known;
    const own = deliveries.filter(({ appId }) => appId === app);
    const built = sessionsOf(own, lexicon.language);
    sessions.set(app, built);
    return built;
  };
  return {
    dataBounds: (app) => dataBounds(of(app)),
    overview: (app, range) => overview(of(app), range, lexicon),
    kpis: (app, range) => kpis(of(app), range),
    pageviews: (app, range, limit) => pageviews(of(app), range, limit),
    timeSpent: (app, range, limit) => timeSpent(of(app), range, limit),
    userGrowth: (app, range) => userGrowth(of(app), range),
    trafficHeatmap: (app) => trafficHeatmap(of(app), now()),
    audienceActivity: (app) => audienceActivity(of(app), now()),
    locations: (app, range, limit) => locations(of(app), range, limit),
    utmCampaigns: (app, range) => utmCampaigns(of(app), range),
  };
}
