import { z } from 'zod';
import { overviewBasis } from '../analytics/scopes.ts';
import { defineEndpoint } from './endpoint.ts';
import { Count, Milliseconds, Rate, Ratio, Timestamp } from './fields.ts';
import { PageView } from './pageviews.ts';
import { AppRangeQuery } from './query.ts';

const top = <T extends z.ZodType>(item: T) => z.array(item).max(10);

const Share = z
  .strictObject({
    name: z.string().meta({ description: '`(none)` for an absent value.' }),
    sessions: Count,
    share: Rate,
  })
  .meta({ id: 'SessionShare' });
const PathSessions = z.strictObject({ path: z.string(), sessions: Count }).meta({ id: 'PathSessions' });
const shares = top(Share);

const session = z.strictObject({
  sessions: Count,
  visitors: Count,
  newVisitors: Count.meta({
    description: 'Visitors whose first ever session in the app started in the range.',
  }),
  returningVisitors: Count,
  bounces: Count,
  bounceRate: Rate,
  averageDurationMs: Milliseconds,
});

const page = z.strictObject({
  pageviews: Count,
  uniquePages: Count,
  pagesPerSession: Ratio,
  averageTimeOnPageMs: Milliseconds.meta({ description: 'Engagement per pageview.' }),
  topPages: top(PageView),
  entryPages: top(PathSessions),
  exitPages: top(PathSessions),
});

const interaction = z.strictObject({
  clicks: Count,
  clicksPerSession: Ratio,
  customEvents: Count,
  engagedMs: Milliseconds,
  topTargets: top(z.strictObject({ target: z.string(), clicks: Count })),
  topCustomEvents: top(z.strictObject({ name: z.string(), count: Count })),
});

const technology = z.strictObject({
  browsers: shares,
  operatingSystems: shares,
  devices: shares,
  screenSizes: shares,
  languages: shares,
});

const error = z.strictObject({
  errors: Count,
  sessionsWithErrors: Count,
  errorRate: Rate,
  topErrors: top(z.strictObject({ message: z.string(), count: Count, sessions: Count })),
});

const traffic = z.strictObject({
  channels: shares,
  referrers: shares,
  countries: shares,
  utmSources: shares,
});

const bound = Timestamp.nullable().meta({ description: "The request's bound in UTC; null where omitted." });

const ExtendedOverview = z
  .strictObject({ from: bound, to: bound, session, page, interaction, technology, error, traffic })
  .meta({ id: 'PublicExtendedOverviewResponseDto' });

export const overviewExtended = defineEndpoint({
  operationId: 'getExtendedOverview',
  method: 'get',
  path: '/api/v1/sessions/overview/extended',
  summary: 'Session, page, interaction, technology, error and traffic metrics',
  description: 'Lists hold the first 10 by their first count, then names.',
  query: AppRangeQuery,
  response: ExtendedOverview,
  basis: ({ range }) => overviewBasis(range),
  handler: ({ query, analytics }) => analytics.overview(query.appId, query.range),
});
