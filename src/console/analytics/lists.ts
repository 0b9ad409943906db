import type { FigureName } from '../../answers/figures.ts';
import type {
  Data,
  ExtendedOverview,
  ListQuestion,
  Location,
  SessionShare,
  UtmCampaign,
} from '../../client/index.ts';
import type { FilterBy } from './view/filters.ts';
import type { ListId, WholeId } from './view/view.ts';

/** The subject of a row, which decides how its name is written. */
export type NameKind =
  | 'path'
  | 'host'
  | 'text'
  | 'country'
  | 'language'
  | 'channel'
  | 'device'
  | 'place'
  | 'visitorType';

export interface ListRow {
  /** The name's parts: one, or those of a place or of a campaign. Null where the answer has none. */
  readonly names: readonly (string | null)[];
  /** One per figure. */
  readonly values: readonly number[];
  /** Latitude and longitude, of a location. */
  readonly at?: readonly [number, number];
}

interface Common {
  readonly id: WholeId;
  readonly kind: NameKind;
  /** The columns' names, of the parts of `names`. In an export they are the answer's own. */
  readonly parts: readonly string[];
  readonly figures: readonly FigureName[];
  /** What the parts of its names filter by, if that is not what its id says. */
  readonly by?: readonly FilterBy[];
}

/** A list within the extended overview: its first ten. */
export interface OverviewList extends Common {
  readonly question: 'getExtendedOverview';
  readonly rows: (answer: ExtendedOverview) => readonly ListRow[];
}

/** A list with an endpoint of its own. */
export interface OwnList extends Common {
  readonly question: Exclude<ListQuestion, 'listUserGrowth'>;
  /** Further parameters of the question. */
  readonly asks?: Readonly<Record<string, string>>;
  readonly rows: (answer: never) => readonly ListRow[];
}

export type List = OverviewList | OwnList;

export const row = (name: string | null, ...values: number[]): ListRow => ({ names: [name], values });

const share = (
  id: ListId,
  kind: NameKind,
  of: (answer: ExtendedOverview) => readonly SessionShare[],
): OverviewList => ({
  id,
  kind,
  question: 'getExtendedOverview',
  parts: ['name'],
  figures: ['sessionsListed', 'share'],
  rows: (answer) => of(answer).map(({ name, sessions, share }) => row(name, sessions, share)),
});

const overview = (
  id: ListId,
  kind: NameKind,
  part: string,
  figures: readonly FigureName[],
  rows: OverviewList['rows'],
): OverviewList => ({ id, kind, question: 'getExtendedOverview', parts: [part], figures, rows });

export const own = <Q extends OwnList['question']>(
  list: Common &
    Pick<OwnList, 'asks'> & { readonly question: Q; readonly rows: (answer: Data<Q>) => readonly ListRow[] },
): OwnList => list;

const UTM_PARTS = [
  'source',
  'medium',
  'campaign',
  'term',
  'content',
] as const satisfies readonly (keyof UtmCampaign)[];
const PLACE_PARTS = ['city', 'region', 'country'] as const satisfies readonly (keyof Location)[];

const ALL: readonly List[] = [
  own({
    id: 'pages',
    kind: 'path',
    question: 'listPageviews',
    parts: ['path'],
    figures: ['views', 'uniqueSessions'],
    rows: (pages) => pages.map(({ path, views, uniqueSessions }) => row(path, views, uniqueSessions)),
  }),
  overview('entryPages', 'path', 'path', ['entrySessions'], ({ page }) =>
    page.entryPages.map(({ path, sessions }) => row(path, sessions)),
  ),
  overview('exitPages', 'path', 'path', ['exitSessions'], ({ page }) =>
    page.exitPages.map(({ path, sessions }) => row(path, sessions)),
  ),
  own({
    id: 'timeSpent',
    kind: 'path',
    question: 'listTimeSpent',
    parts: ['path'],
    figures: ['totalMs', 'averageMs'],
    rows: (pages) => pages.map(({ path, totalMs, averageMs }) => row(path, totalMs, averageMs)),
  }),
  share('channels', 'channel', ({ traffic }) => traffic.channels),
  share('referrers', 'host', ({ traffic }) => traffic.referrers),
  share('utmSources', 'text', ({ traffic }) => traffic.utmSources),
  own({
    id: 'locations',
    kind: 'place',
    question: 'listLocations',
    parts: PLACE_PARTS,
    figures: ['sessionsListed'],
    rows: (places) =>
      places.map((place) => ({
        names: PLACE_PARTS.map((part) => place[part]),
        values: [place.count],
        at: [place.latitude, place.longitude],
      })),
  }),
  share('countries', 'country', ({ traffic }) => traffic.countries),
  share('browsers', 'text', ({ technology }) => technology.browsers),
  share('operatingSystems', 'text', ({ technology }) => technology.operatingSystems),
  share('devices', 'device', ({ technology }) => technology.devices),
  share('screenSizes', 'text', ({ technology }) => technology.screenSizes),
  share('languages', 'language', ({ technology }) => technology.languages),
  overview('targets', 'text', 'target', ['targetClicks'], ({ interaction }) =>
    interaction.topTargets.map(({ target, clicks }) => row(target, clicks)),
  ),
  overview('customEvents', 'text', 'name', ['customEventCount'], ({ interaction }) =>
    interaction.topCustomEvents.map(({ name, count }) => row(name, count)),
  ),
  overview('errors', 'text', 'message', ['errorCount', 'errorSessions'], ({ error }) =>
    error.topErrors.map(({ message, count, sessions }) => row(message, count, sessions)),
  ),
  own({
    id: 'campaigns',
    kind: 'text',
    question: 'listUtmCampaigns',
    parts: UTM_PARTS,
    figures: ['sessionsListed', 'visitorsListed'],
    rows: (campaigns) =>
      campaigns.map((campaign) => ({
        names: UTM_PARTS.map((part) => campaign[part]),
        values: [campaign.sessions, campaign.visitors],
      })),
  }),
];

/** What the parts of a list's names filter by. */
const FILTERS: Readonly<Record<WholeId, readonly FilterBy[]>> = {
  pages: ['page'],
  entryPages: ['entryPage'],
  exitPages: ['exitPage'],
  timeSpent: ['page'],
  channels: ['channel'],
  referrers: ['referrer'],
  utmSources: ['source'],
  locations: PLACE_PARTS,
  countries: ['country'],
  browsers: ['browser'],
  operatingSystems: ['os'],
  devices: ['device'],
  screenSizes: ['screen'],
  languages: ['language'],
  targets: ['target'],
  customEvents: ['event'],
  errors: ['error'],
  campaigns: UTM_PARTS,
  regions: ['region'],
  cities: ['city'],
  utmMediums: ['medium'],
  utmCampaigns: ['campaign'],
  utmTerms: ['term'],
  utmContents: ['content'],
  visitorTypes: ['visitorType'],
};

export const filtersOfList = ({ id, by }: List): readonly FilterBy[] => by ?? FILTERS[id];

const BY_ID = new Map<WholeId, List>(ALL.map((list) => [list.id, list]));

export function listOf(id: ListId): List {
  const list = BY_ID.get(id);
  if (list === undefined) throw new Error(`There is no list ${id}.`);
  return list;
}

export const rowsOf = (list: List, answer: unknown): readonly ListRow[] => list.rows(answer as never);

/** How many rows the service gives at most, however many there are. */
export const mostGiven = ({ question }: List): number => {
  if (question === 'getExtendedOverview') return 10;
  return question === 'listUtmCampaigns' ? 100 : Number.POSITIVE_INFINITY;
};

/** How many rows an answer can have; with fewer, every other row is 0. */
export const mostRows = (list: List, asked: number): number => Math.min(mostGiven(list), asked);

export const keyOf = ({ names, at }: ListRow): string => JSON.stringify([names, at]);

/**
 * The rows with their values in the period before. Null is a value that is not known, because the list of that time
 * was cut.
 */
export function compared(
  rows: readonly ListRow[],
  before: readonly ListRow[],
  most: number,
): readonly (ListRow & { readonly before: readonly (number | null)[] })[] {
  const known = new Map(before.map((each) => [keyOf(each), each.values]));
  const absent = before.length < most ? 0 : null;
  return rows.map((each) => ({
    ...each,
    before: known.get(keyOf(each)) ?? each.values.map(() => absent),
  }));
}
