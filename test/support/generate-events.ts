import fc from 'fast-check';
import type { Condition } from '../../src/domain/segment.ts';
import { LANGUAGES, REFERRERS, USER_AGENTS, UTM_MEDIUMS, UTM_SOURCES } from './oracle/known.ts';
import { CHANNELS } from './oracle/lexicon.ts';
import type { SentContext, SentEvent } from './oracle/model.ts';

/** U+FF21 sorts before U+1F33C in UTF-8 and after it in UTF-16. */
const WIDE_A = '\uFF21';
const BLOSSOM = '\u{1F33C}';

/** A few values most of the time, so that events share them; sometimes many, so that a top 10 is cut. */
const mostly = (few: readonly string[], many: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...few) },
    { weight: 2, arbitrary: fc.constantFrom(...few, ...many) },
  );

const numbered = (prefix: string): string[] => Array.from({ length: 12 }, (_, i) => `${prefix}${i}`);

const PATHS = ['/', '/a', '/b'];
const MORE_PATHS = ['/A', `/${WIDE_A}`, `/${BLOSSOM}`, '/it\'s "q" \\ 100%', ...numbered('/p')];
const LABELS = ['#buy', WIDE_A, BLOSSOM];
const MORE_LABELS = ["O'Neil \\n", '{x:String}', '\uFFFD', ...numbered('label ')];

const path = mostly(PATHS, ['/a?x=1', '/b#top', ...MORE_PATHS]);
const label = mostly(LABELS, MORE_LABELS);
const durationMs = fc.oneof(
  fc.constantFrom(0, 1, 5_230, 86_400_000),
  fc.integer({ min: 0, max: 86_400_000 }),
);

/** Keys of properties, with what a statement or JSON could stumble over. */
export const PROPERTY_KEYS = ['plan', 'plan', '10', "it's", '"\\', '{x:String}', WIDE_A, BLOSSOM];
const properties: fc.Arbitrary<Readonly<Record<string, string | number | boolean>>> = fc.dictionary(
  fc.constantFrom(...PROPERTY_KEYS),
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...LABELS, '', '1', 'true', ...MORE_LABELS) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, -1.5, 1e21, 1e-7, true, false) },
  ),
  { maxKeys: 3 },
);

/** An event without its time. */
export const eventArbitrary: fc.Arbitrary<Omit<SentEvent, 'timestamp'>> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('pageview' as const), path }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { type: fc.constant('click' as const), path, target: fc.oneof(label, fc.constant('')) },
      { requiredKeys: ['type', 'path'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('error' as const), path, message: label }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('engagement' as const), path, durationMs }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { type: fc.constant('custom' as const), path, name: label, properties },
      { requiredKeys: ['type', 'path', 'name'] },
    ),
  },
);

const word = (...words: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...words);
const wordOf = (table: ReadonlyMap<string, unknown>): fc.Arbitrary<string> =>
  fc.constantFrom(...table.keys());

/** Places, some of them invalid: out of range, incomplete, or the unknown (0, 0). */
const coordinates: fc.Arbitrary<{ latitude?: number; longitude?: number }> = fc.constantFrom(
  {},
  { latitude: 35.7, longitude: 51.4 },
  { latitude: 35.7, longitude: 51.41 },
  { latitude: -33.8688, longitude: 151.2093 },
  { latitude: 52.52, longitude: 13.405 },
  { latitude: 0, longitude: 0 },
  { latitude: -0, longitude: 0 },
  { latitude: 0, longitude: 51.4 },
  { latitude: -0, longitude: 51.4 },
  { latitude: -90, longitude: 180 },
  { latitude: 90.0001, longitude: 51.4 },
  { latitude: 35.7 },
);

const COUNTRIES = ['IR', 'DE', ''];
const REGIONS = ['Tehran', ''];
const CITIES = ['Tehran', WIDE_A, BLOSSOM];

const location = fc
  .tuple(
    fc.record(
      { country: word(...COUNTRIES), region: word(...REGIONS), city: word(...CITIES) },
      { requiredKeys: [] },
    ),
    coordinates,
  )
  .map(([names, numbers]) => ({ ...names, ...numbers }));

const CAMPAIGNS = ['', 'one', 'two', WIDE_A, BLOSSOM];
const TERMS = ['', 'shoes'];
const CONTENTS = ['', 'x', 'y'];
const SCREENS = ['', '1920x1080', '390x844'];

const utm = fc.record(
  {
    source: wordOf(UTM_SOURCES),
    medium: wordOf(UTM_MEDIUMS),
    campaign: word(...CAMPAIGNS),
    term: word(...TERMS),
    content: word(...CONTENTS),
  },
  { requiredKeys: [] },
);

/** A user agent is always stated. Without one, the request's own would count. */
export const contextArbitrary: fc.Arbitrary<SentContext> = fc.record(
  {
    userAgent: wordOf(USER_AGENTS),
    referrer: wordOf(REFERRERS),
    utm,
    language: wordOf(LANGUAGES),
    screen: word(...SCREENS),
    location,
  },
  { requiredKeys: ['userAgent'] },
);

const technologies = [...USER_AGENTS.values()];
const paths = [...PATHS, ...PATHS, ...MORE_PATHS];
const labels = [...LABELS, ...LABELS, ...MORE_LABELS];

/** Names of custom events. */
export const EVENT_NAMES = labels;

/** Values that the sessions above can have, by what a condition is about. */
export const VALUES: Readonly<Record<Condition['dimension'], readonly string[]>> = {
  browser: technologies.map(({ browser }) => browser),
  os: technologies.map(({ os }) => os),
  device: technologies.map(({ device }) => device),
  screen: SCREENS,
  language: [...LANGUAGES.values()],
  channel: [...CHANNELS],
  referrer: [...REFERRERS.values()].map(({ host }) => host),
  country: COUNTRIES,
  region: REGIONS,
  city: CITIES,
  source: [...UTM_SOURCES.keys()],
  medium: [...UTM_MEDIUMS.keys()],
  campaign: CAMPAIGNS,
  term: TERMS,
  content: CONTENTS,
  entryPage: paths,
  exitPage: paths,
  visitorType: ['new', 'returning'],
  page: paths,
  event: labels,
  target: labels,
  error: labels,
};
