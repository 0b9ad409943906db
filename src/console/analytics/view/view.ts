import { AGAINST, type Against } from './against.ts';
import { segmentIn } from './filters.ts';
import { INTERVALS, type Interval } from './interval.ts';
import { type Choice, type Minutes, PRESETS, type Preset, rangeProblem } from './range.ts';
import { TEHRAN, UTC, wallMinute, type Zone, zoneNamed } from './zone.ts';

export const GROWTH_METRICS = ['sessions', 'visitors', 'pageviews', 'clicks'] as const;
export type GrowthMetric = (typeof GROWTH_METRICS)[number];
export const HOUR_METRICS = ['sessions', 'visitors', 'pageviews'] as const;
export type HourMetric = (typeof HOUR_METRICS)[number];

export const MAP_FRAMES = ['places', 'world'] as const;
export type MapFrame = (typeof MAP_FRAMES)[number];

/** The lists of each group, of which one is shown. The first is it by default. */
export const TABS = {
  pages: ['pages', 'entryPages', 'exitPages', 'timeSpent'],
  sources: ['channels', 'referrers', 'utmSources'],
  places: ['locations', 'countries'],
  technology: ['browsers', 'operatingSystems', 'devices', 'screenSizes', 'languages'],
  interaction: ['targets', 'customEvents', 'errors'],
} as const;
export type Group = keyof typeof TABS;
export type ListId = (typeof TABS)[Group][number] | 'campaigns';
/** Lists that no panel has. */
export const MORE_LISTS = [
  'regions',
  'cities',
  'utmMediums',
  'utmCampaigns',
  'utmTerms',
  'utmContents',
  'visitorTypes',
] as const;
/** A list that can be shown whole. */
export type WholeId = ListId | (typeof MORE_LISTS)[number];
export const WHOLE_IDS: readonly WholeId[] = [...Object.values(TABS).flat(), 'campaigns', ...MORE_LISTS];
export type Tabs = { readonly [G in Group]: (typeof TABS)[G][number] };
const GROUPS = Object.keys(TABS) as readonly Group[];

/** All that a person chose on the page. It is in the address, so a link shows the same. */
export interface View {
  readonly choice: Choice;
  readonly zone: Zone;
  /** The period that changes are against. */
  readonly against: Against;
  /** The minutes of `custom`; null as long as nobody has chosen them. */
  readonly againstMinutes: Minutes | null;
  /** Whether its values stand beside those of the range. */
  readonly isCompared: boolean;
  readonly growth: GrowthMetric;
  /** The unit of the charts; null for the one that suits the range. */
  readonly interval: Interval | null;
  readonly hours: HourMetric;
  readonly tabs: Tabs;
  /** Whether the map shows the places alone, or the whole world. */
  readonly map: MapFrame;
  /** Only these sessions count: a segment of the API, empty for all. One that is wrong is kept: the API refuses it. */
  readonly segment: string;
  /** Only rows with this text are listed. */
  readonly find: string;
  /** The list that is shown whole, instead of the panels; null for the panels. */
  readonly list: WholeId | null;
  /** Its order: a column, with `-` for descending; empty for that of the answer. */
  readonly sort: string;
  /** The custom event whose properties are shown, in the list of these; empty for none. */
  readonly event: string;
  /** The property whose values are shown. */
  readonly property: string;
}

export const DEFAULT_VIEW: View = {
  choice: '7d',
  zone: UTC,
  against: 'previous',
  againstMinutes: null,
  isCompared: false,
  growth: 'sessions',
  interval: null,
  hours: 'sessions',
  tabs: {
    pages: 'pages',
    sources: 'channels',
    places: 'locations',
    technology: 'browsers',
    interaction: 'targets',
  },
  map: 'places',
  segment: '',
  find: '',
  list: null,
  sort: '',
  event: '',
  property: '',
};

const SHORT_ZONES: Readonly<Record<string, Zone>> = { utc: UTC, tehran: TEHRAN };
const LONGEST_FIND = 200;
const LONGEST_NAME = 512;

/**
 * Reads the view from the part of an address after the question mark. A value that makes no sense counts as absent; `zone`
 * is that of an address without one.
 */
export function viewOf(search: string, zone: Zone = UTC): View {
  const params = new URLSearchParams(search);
  const among = <T extends string>(name: string, values: readonly T[], other: T): T =>
    values.find((value) => value === params.get(name)) ?? other;
  return {
    choice: choiceOf(params) ?? DEFAULT_VIEW.choice,
    zone: zoneIn(params) ?? zone,
    against: among('against', AGAINST, DEFAULT_VIEW.against),
    againstMinutes: minutesIn(params, 'against-from', 'against-to'),
    isCompared: params.get('compare') === '1',
    growth: among('growth', GROWTH_METRICS, DEFAULT_VIEW.growth),
    interval: INTERVALS.find((each) => each === params.get('by')) ?? null,
    hours: among('hours', HOUR_METRICS, DEFAULT_VIEW.hours),
    tabs: Object.fromEntries(
      GROUPS.map((group) => [group, among<ListId>(group, TABS[group], DEFAULT_VIEW.tabs[group])]),
    ) as unknown as Tabs,
    map: among('map', MAP_FRAMES, DEFAULT_VIEW.map),
    segment: segmentIn(params.get('segment') ?? ''),
    find: (params.get('find') ?? '').slice(0, LONGEST_FIND),
    ...wholeIn(params),
  };
}

/** What an address says about a whole list. Without one, the rest means nothing. */
function wholeIn(params: URLSearchParams): Pick<View, 'list' | 'sort' | 'event' | 'property'> {
  const list = WHOLE_IDS.find((each) => each === params.get('list')) ?? null;
  const textOf = (name: string): string => (params.get(name) ?? '').slice(0, LONGEST_NAME);
  const sort = list === null ? '' : textOf('sort');
  const event = list === 'customEvents' ? textOf('event') : '';
  return { list, sort, event, property: event === '' ? '' : textOf('property') };
}

function choiceOf(params: URLSearchParams): Choice | null {
  const preset = PRESETS.find((each): each is Preset => each === params.get('range'));
  if (preset !== undefined) return preset;
  return minutesIn(params, 'from', 'to');
}

function minutesIn(params: URLSearchParams, first: string, last: string): Minutes | null {
  const from = wallMinute(params.get(first) ?? '');
  const to = wallMinute(params.get(last) ?? '');
  return from === null || to === null || rangeProblem({ from, to }) !== null ? null : { from, to };
}

/** The zone that an address names; null if it names none. */
export function zoneIn(params: URLSearchParams): Zone | null {
  const name = params.get('zone') ?? '';
  return SHORT_ZONES[name] ?? zoneNamed(name);
}

const shortOf = (zone: Zone): string =>
  Object.entries(SHORT_ZONES).find(([, long]) => long === zone)?.[0] ?? zone;

/** The part of an address that `viewOf` reads. Defaults are left out, but for the zone: others may have another default. */
export function searchOf(view: View): string {
  const { choice, against, againstMinutes, isCompared, growth, interval, hours, tabs, map, segment, find } =
    view;
  const { list, sort, event, property } = view;
  const params = new URLSearchParams();
  const set = (name: string, value: string, other = ''): void => {
    if (value !== other) params.set(name, value);
  };
  if (typeof choice === 'object') {
    params.set('from', choice.from);
    params.set('to', choice.to);
  } else set('range', choice, DEFAULT_VIEW.choice as Preset);
  params.set('zone', shortOf(view.zone));
  set('against', against, DEFAULT_VIEW.against);
  if (against === 'custom' && againstMinutes !== null) {
    params.set('against-from', againstMinutes.from);
    params.set('against-to', againstMinutes.to);
  }
  set('compare', isCompared ? '1' : '');
  set('growth', growth, DEFAULT_VIEW.growth);
  set('by', interval ?? '');
  set('hours', hours, DEFAULT_VIEW.hours);
  for (const group of GROUPS) set(group, tabs[group], DEFAULT_VIEW.tabs[group]);
  set('map', map, DEFAULT_VIEW.map);
  set('segment', segment);
  set('find', find);
  if (list !== null) {
    params.set('list', list);
    set('sort', sort);
    set('event', event);
    set('property', property);
  }
  // These characters are allowed in a query, and keep the address readable.
  return `?${params.toString().replace(/%(?:3A|2F|3D|21|3B|2C)/g, decodeURIComponent)}`;
}
