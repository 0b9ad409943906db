import type { Param } from '../src/clickhouse/database.ts';
import { mediumSignal, referrerSignal, sourceSignal } from '../src/ingestion/channels.ts';

/** Repeats each value as often as its weight, so that a uniform index into the list draws by weight. */
const weighted = (weights: Readonly<Record<string, number>>): string[] =>
  Object.entries(weights).flatMap(([value, weight]) => new Array<string>(weight).fill(value));

/** User agents with their families: browser, system, device. */
const TECHNOLOGY = weighted({
  'Chrome|Android|mobile': 34,
  'Chrome|Windows|desktop': 22,
  'Safari|iOS|mobile': 16,
  'Safari|macOS|desktop': 5,
  'Chrome|macOS|desktop': 5,
  'Edge|Windows|desktop': 5,
  'Firefox|Windows|desktop': 3,
  'Samsung Internet|Android|mobile': 3,
  'Firefox|Linux|desktop': 2,
  'Chrome|Linux|desktop': 2,
  'Safari|iPadOS|tablet': 1,
  'Opera|Windows|desktop': 1,
  '||other': 1,
}).map((line) => line.split('|'));

const DESKTOP_SCREENS = ['1920x1080', '1366x768', '1536x864', '1440x900', '2560x1440', '1280x720'];
const MOBILE_SCREENS = ['390x844', '360x800', '412x915', '393x873', '414x896', '375x667', '768x1024'];
const LANGUAGES = weighted({
  'fa-IR': 30,
  'en-US': 28,
  de: 8,
  'ar-EG': 7,
  'tr-TR': 6,
  'fr-FR': 5,
  'es-ES': 5,
  'ru-RU': 4,
  'zh-CN': 4,
  '': 3,
});

/** The first of a list is drawn most often, because the generator draws by Zipf's law. */
const COUNTRIES = (
  'IR US DE TR FR GB CA NL AE IQ AF SE IT ES RU IN AU PL BR JP AT CH BE NO DK FI PT GR CZ RO HU UA BG RS HR SK SI EE LV ' +
  'LT IE IS MX AR CL CO PE ZA EG MA TN NG KE PK BD ID MY SG TH VN'
).split(' ');

const REFERRER_HOSTS = [
  ...weighted({
    'google.com': 40,
    'bing.com': 6,
    'instagram.com': 12,
    't.me': 9,
    'x.com': 6,
    'linkedin.com': 5,
  }),
  ...Array.from({ length: 40 }, (_, i) => `partner-${i + 1}.example`),
];

const SOURCES = ['google', 'newsletter', 'instagram', 'telegram', 'partner', 'bing', 'linkedin', 'podcast'];
const MEDIUMS = ['cpc', 'email', 'social', 'referral', '', 'display', 'organic'];
/** 200 different combinations of source, medium, campaign, term and content. */
const UTM = Array.from({ length: 200 }, (_, i) => {
  const campaign = i % 9 === 0 ? '' : `campaign-${Math.floor(i / 8) + 1}`;
  return {
    source: SOURCES[i % SOURCES.length] ?? '',
    medium: MEDIUMS[i % MEDIUMS.length] ?? '',
    campaign,
    term: i % 5 === 0 ? `term ${(i % 7) + 1}` : '',
    content: i % 4 === 0 || campaign === '' ? `variant ${i}` : '',
  };
});

/** Words and weights as arrays for the generator's places. The signals are the same as ingestion's. */
export const VOCABULARY: Readonly<Record<string, Param>> = {
  browsers: TECHNOLOGY.map(([browser = '']) => browser),
  systems: TECHNOLOGY.map(([, system = '']) => system),
  devices: TECHNOLOGY.map(([, , device = '']) => device),
  desktopScreens: DESKTOP_SCREENS,
  mobileScreens: MOBILE_SCREENS,
  languages: LANGUAGES,
  countries: COUNTRIES,
  referrers: REFERRER_HOSTS,
  referrerSignals: REFERRER_HOSTS.map(referrerSignal),
  sources: UTM.map(({ source }) => source),
  sourceSignals: UTM.map(({ source }) => sourceSignal(source)),
  mediums: UTM.map(({ medium }) => medium),
  mediumSignals: UTM.map(({ medium }) => mediumSignal(medium)),
  campaigns: UTM.map(({ campaign }) => campaign),
  terms: UTM.map(({ term }) => term),
  contents: UTM.map(({ content }) => content),
  // Pageviews of 20 sessions: 8 on average; 8 of the 20 have a single one.
  pageviewCounts: [1, 3, 1, 10, 1, 2, 48, 1, 5, 1, 20, 1, 4, 2, 1, 14, 6, 1, 8, 30],
  // How many of 1,000 sessions start before the end of each hour of the day (UTC).
  hours: [
    22, 40, 54, 70, 96, 134, 180, 231, 282, 332, 380, 429, 480, 533, 588, 645, 704, 764, 822, 875, 920, 955,
    980, 1000,
  ],
};
