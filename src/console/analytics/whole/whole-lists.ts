import type { Dimension } from '../../../client/index.ts';
import { type List, listOf, type NameKind, type OwnList, own, row } from '../lists.ts';
import { type View, WHOLE_IDS, type WholeId } from '../view/view.ts';

const breakdown = (id: WholeId, kind: NameKind, by: Dimension): OwnList =>
  own({
    id,
    kind,
    question: 'listBreakdown',
    asks: { by },
    parts: ['name'],
    figures: [
      'sessionsListed',
      'visitorsListed',
      'share',
      'pageviewsListed',
      'bounceRate',
      'averageSessionDurationMs',
      'pagesPerSession',
    ],
    rows: (answer) =>
      answer.map((each) =>
        row(
          each.name,
          each.sessions,
          each.visitors,
          each.share,
          each.pageviews,
          each.bounceRate,
          each.averageSessionDurationMs,
          each.pagesPerSession,
        ),
      ),
  });

const events = (
  id: WholeId,
  asks: Readonly<Record<string, string>>,
  more: Partial<OwnList> = {},
): OwnList => ({
  ...own({
    id,
    kind: 'text',
    question: 'listEvents',
    asks,
    parts: ['name'],
    figures: ['eventCount', 'eventSessions', 'eventVisitors'],
    rows: (answer) =>
      answer.map(({ name, count, sessions, visitors }) => row(name, count, sessions, visitors)),
  }),
  ...more,
});

/** Lists whose whole form has more columns than the first rows on the page. */
const WIDER: readonly List[] = [
  breakdown('entryPages', 'path', 'entryPage'),
  breakdown('exitPages', 'path', 'exitPage'),
  breakdown('channels', 'channel', 'channel'),
  breakdown('referrers', 'host', 'referrer'),
  breakdown('utmSources', 'text', 'source'),
  breakdown('utmMediums', 'text', 'medium'),
  breakdown('utmCampaigns', 'text', 'campaign'),
  breakdown('utmTerms', 'text', 'term'),
  breakdown('utmContents', 'text', 'content'),
  breakdown('countries', 'country', 'country'),
  breakdown('regions', 'text', 'region'),
  breakdown('cities', 'place', 'city'),
  breakdown('browsers', 'text', 'browser'),
  breakdown('operatingSystems', 'text', 'os'),
  breakdown('devices', 'device', 'device'),
  breakdown('screenSizes', 'text', 'screen'),
  breakdown('languages', 'language', 'language'),
  breakdown('visitorTypes', 'visitorType', 'visitorType'),
  events('targets', { type: 'click' }),
  events('customEvents', { type: 'custom' }),
  events('errors', { type: 'error' }),
];
const BY_ID = new Map(WIDER.map((list) => [list.id, list]));

/** The whole form of a list. */
export const wholeOf = (id: WholeId): List => BY_ID.get(id) ?? listOf(id as Parameters<typeof listOf>[0]);

/** The list that a view shows whole: the values of a property, if it names one. */
export function wholeIn({ list, event, property }: View): List {
  if (event === '' || property === '') return wholeOf(list ?? 'pages');
  // Nothing is filtered by a property.
  return events('customEvents', { type: 'custom', name: event, property }, { by: [] });
}

export const allWhole = (): readonly List[] => WHOLE_IDS.map(wholeOf);
