import { type Choice, PRESETS, type Preset, rangeProblem } from './range.ts';
import { wallMinute, ZONES, type Zone } from './zone.ts';

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
export type Tabs = { readonly [G in Group]: (typeof TABS)[G][number] };
const GROUPS = Object.keys(TABS) as readonly Group[];

/** All that a person chose on the page. It is in the address, so a link shows the same. */
export interface View {
  readonly choice: Choice;
  readonly zone: Zone;
  readonly isCompared: boolean;
  readonly growth: GrowthMetric;
  readonly hours: HourMetric;
  readonly tabs: Tabs;
  /** Whether the map shows the places alone, or the whole world. */
  readonly map: MapFrame;
  /** Only rows with this text are listed. */
  readonly find: string;
}

export const DEFAULT_VIEW: View = {
  choice: '7d',
  zone: 'UTC',
  isCompared: false,
  growth: 'sessions',
  hours: 'sessions',
  tabs: {
    pages: 'pages',
    sources: 'channels',
    places: 'locations',
    technology: 'browsers',
    interaction: 'targets',
  },
  map: 'places',
  find: '',
};

const ZONE_NAMES: Readonly<Record<Zone, string>> = { UTC: 'utc', 'Asia/Tehran': 'tehran' };
const LONGEST_FIND = 200;

/** Reads the view from the part of an address after the question mark. A value that makes no sense counts as absent. */
export function viewOf(search: string): View {
  const params = new URLSearchParams(search);
  const among = <T extends string>(name: string, values: readonly T[], other: T): T =>
    values.find((value) => value === params.get(name)) ?? other;
  return {
    choice: choiceOf(params) ?? DEFAULT_VIEW.choice,
    zone: ZONES.find((zone) => ZONE_NAMES[zone] === params.get('zone')) ?? DEFAULT_VIEW.zone,
    isCompared: params.get('compare') === '1',
    growth: among('growth', GROWTH_METRICS, DEFAULT_VIEW.growth),
    hours: among('hours', HOUR_METRICS, DEFAULT_VIEW.hours),
    tabs: Object.fromEntries(
      GROUPS.map((group) => [group, among<ListId>(group, TABS[group], DEFAULT_VIEW.tabs[group])]),
    ) as unknown as Tabs,
    map: among('map', MAP_FRAMES, DEFAULT_VIEW.map),
    find: (params.get('find') ?? '').slice(0, LONGEST_FIND),
  };
}

function choiceOf(params: URLSearchParams): Choice | null {
  const preset = PRESETS.find((each): each is Preset => each === params.get('range'));
  if (preset !== undefined) return preset;
  const from = wallMinute(params.get('from') ?? '');
  const to = wallMinute(params.get('to') ?? '');
  if (from === null || to === null || rangeProblem({ from, to }) !== null) return null;
  return { from, to };
}

/** The part of an address that `viewOf` reads. Defaults are left out. */
export function searchOf({ choice, zone, isCompared, growth, hours, tabs, map, find }: View): string {
  const params = new URLSearchParams();
  if (typeof choice === 'object') {
    params.set('from', choice.from);
    params.set('to', choice.to);
  } else if (choice !== DEFAULT_VIEW.choice) params.set('range', choice);
  if (zone !== DEFAULT_VIEW.zone) params.set('zone', ZONE_NAMES[zone]);
  if (isCompared) params.set('compare', '1');
  if (growth !== DEFAULT_VIEW.growth) params.set('growth', growth);
  if (hours !== DEFAULT_VIEW.hours) params.set('hours', hours);
  for (const group of GROUPS) if (tabs[group] !== DEFAULT_VIEW.tabs[group]) params.set(group, tabs[group]);
  if (map !== DEFAULT_VIEW.map) params.set('map', map);
  if (find !== '') params.set('find', find);
  const text = params.toString().replaceAll('%3A', ':');
  return text === '' ? '' : `?${text}`;
}
