import type { Analytics } from '../../../src/analytics/answers/results.ts';
import type { AppId } from '../../../src/domain/ids.ts';
import type { Segment } from '../../../src/domain/segment.ts';
import type { Lexicon } from './lexicon.ts';
import { type Delivery, type Session, sessionsOf } from './model.ts';
import { breakdown, events, realtime, series } from './more.ts';
import { overview } from './overview.ts';
import { dataBounds, kpis, locations, pageviews, timeSpent, userGrowth, utmCampaigns } from './questions.ts';
import { matching } from './segment.ts';
import { audienceActivity, trafficHeatmap } from './windows.ts';

/** The questions of `Analytics`, answered synchronously. Without `now`, the oracle's own clock counts. */
export type Oracle = {
  readonly [Question in keyof Analytics]: (
    ...args: Question extends 'trafficHeatmap' | 'audienceActivity' | 'realtime'
      ? [app: AppId, now?: number, segment?: Segment | null]
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
  const matched = (app: string, segment: Segment | null | undefined) => matching(of(app), segment, lexicon);
  return {
    dataBounds: (app) => dataBounds(of(app)),
    overview: (app, range, segment) => overview(matched(app, segment), range, lexicon, of(app)),
    kpis: (app, range, segment) => kpis(matched(app, segment), range),
    pageviews: (app, range, limit, segment) => pageviews(matched(app, segment), range, limit),
    timeSpent: (app, range, limit, segment) => timeSpent(matched(app, segment), range, limit),
    userGrowth: (app, range, segment) => userGrowth(matched(app, segment), range, of(app)),
    trafficHeatmap: (app, at = now(), segment) => trafficHeatmap(matched(app, segment), at),
    audienceActivity: (app, at = now(), segment) => audienceActivity(matched(app, segment), at),
    locations: (app, range, limit, segment) => locations(matched(app, segment), range, limit),
    utmCampaigns: (app, range, segment) => utmCampaigns(matched(app, segment), range),
    series: (app, range, question, segment) => series(matched(app, segment), range, question, of(app)),
    breakdown: (app, range, by, limit, segment) =>
      breakdown(matched(app, segment), range, by, of(app), lexicon, limit),
    events: (app, range, question, limit, segment) => events(matched(app, segment), range, question, limit),
    realtime: (app, at = now(), segment) => realtime(matched(app, segment), at, lexicon),
  };
}
