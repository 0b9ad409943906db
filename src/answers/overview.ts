import { z } from 'zod';
import type { Answer } from './answer.ts';
import { figure, figuresOf, Timestamp, top } from './fields.ts';
import { PageView } from './rows.ts';

const NamedShare = z
  .strictObject({
    name: z.string().meta({ description: '`(none)` for an absent value.' }),
    sessions: figure('sessionsListed'),
    share: figure('share'),
  })
  .meta({ id: 'SessionShare' });
const EntryPage = z
  .strictObject({ path: z.string(), sessions: figure('entrySessions') })
  .meta({ id: 'EntryPage' });
const ExitPage = z
  .strictObject({ path: z.string(), sessions: figure('exitSessions') })
  .meta({ id: 'ExitPage' });
const shares = top(NamedShare);

const session = z.strictObject({
  ...figuresOf(['sessions', 'visitors', 'newVisitors', 'returningVisitors', 'bounces', 'bounceRate']),
  averageDurationMs: figure('averageSessionDurationMs'),
});

const page = z.strictObject({
  ...figuresOf(['pageviews', 'uniquePages', 'pagesPerSession', 'averageTimeOnPageMs']),
  topPages: top(PageView),
  entryPages: top(EntryPage),
  exitPages: top(ExitPage),
});

const interaction = z.strictObject({
  ...figuresOf(['clicks', 'clicksPerSession', 'customEvents', 'engagedMs']),
  topTargets: top(z.strictObject({ target: z.string(), clicks: figure('targetClicks') })),
  topCustomEvents: top(z.strictObject({ name: z.string(), count: figure('customEventCount') })),
});

const technology = z.strictObject({
  browsers: shares,
  operatingSystems: shares,
  devices: shares,
  screenSizes: shares,
  languages: shares,
});

const error = z.strictObject({
  ...figuresOf(['errors', 'sessionsWithErrors', 'errorRate']),
  topErrors: top(
    z.strictObject({ message: z.string(), count: figure('errorCount'), sessions: figure('errorSessions') }),
  ),
});

const traffic = z.strictObject({
  channels: shares,
  referrers: shares,
  countries: shares,
  utmSources: shares,
});

const bound = Timestamp.nullable().meta({ description: "The request's bound in UTC; null where omitted." });

export const ExtendedOverview = z
  .strictObject({ from: bound, to: bound, session, page, interaction, technology, error, traffic })
  .meta({ id: 'PublicExtendedOverviewResponseDto' });
export type ExtendedOverview = Answer<typeof ExtendedOverview>;
export type NamedShare = Answer<typeof NamedShare>;
/** Sessions that began or ended with a path. */
export type PathSessions = Answer<typeof EntryPage>;
