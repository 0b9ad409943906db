import { isDeepStrictEqual } from 'node:util';
import { kpiRange } from '../../src/analytics/range/ranges.ts';
import { appId } from '../../src/domain/ids.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { epochMs, type OpenRange } from '../../src/domain/time.ts';
import type { Oracle } from '../../test/support/oracle/oracle.ts';
import type { Recording } from '../recording.ts';
import type { Deployment } from './deployment.ts';
import type { Site } from './site.ts';

const DAY_MS = 86_400_000;

/** When a question is asked. */
interface Moment {
  /** The number of the round. */
  readonly turn: number;
  /** Epoch ms. */
  readonly now: number;
}

/** A question over HTTP, with its exact answer by the oracle. No answer that the service keeps fits. */
interface Asked {
  readonly endpoint: string;
  readonly range: string;
  /** `new range`: its ends lie at other milliseconds each time. `after an event`: it has none, so an event is stored first. */
  readonly asked: 'new range' | 'after an event';
  path(at: Moment): string;
  /** `clock`: the service's, epoch ms. */
  answer(oracle: Oracle, at: Moment, clock: number): unknown;
}

type Ranged = (oracle: Oracle, app: ReturnType<typeof appId>, range: OpenRange, now: number) => unknown;

const RANGED: Readonly<Record<string, readonly [path: string, answer: Ranged]>> = {
  pageviews: ['sessions/pageviews', (oracle, app, range) => oracle.pageviews(app, range)],
  timeSpent: ['sessions/timespent', (oracle, app, range) => oracle.timeSpent(app, range)],
  kpis: [
    'sessions/overview/kpis',
    (oracle, app, range, now) => oracle.kpis(app, kpiRange(range, epochMs(now))),
  ],
  userGrowth: ['sessions/user-growth', (oracle, app, range) => oracle.userGrowth(app, range)],
  utmCampaigns: ['growth/utm', (oracle, app, range) => oracle.utmCampaigns(app, range)],
  locations: ['sessions/locations/all', (oracle, app, range) => oracle.locations(app, range)],
  overview: ['sessions/overview/extended', (oracle, app, range) => oracle.overview(app, range)],
};

/** Questions with parameters of their own: the segment of the mobile devices, and hours that begin at UTC :15. */
const SEGMENT = 'device==mobile';
const MOBILE: Segment = [[{ dimension: 'device', operator: '==', value: 'mobile' }]];
const KATHMANDU = { interval: 'hour', timezone: 'Asia/Kathmandu' } as const;
const NARROWED = `segment=${encodeURIComponent(SEGMENT)}`;
const HOURS = `interval=${KATHMANDU.interval}&timezone=${encodeURIComponent(KATHMANDU.timezone)}`;
const FURTHER: typeof RANGED = {
  [`kpis, ${SEGMENT}`]: [
    `sessions/overview/kpis?${NARROWED}`,
    (oracle, app, range, now) => oracle.kpis(app, kpiRange(range, epochMs(now)), MOBILE),
  ],
  [`pageviews, ${SEGMENT}`]: [
    `sessions/pageviews?${NARROWED}`,
    (oracle, app, range) => oracle.pageviews(app, range, undefined, MOBILE),
  ],
  'series by hour, Kathmandu': [
    `sessions/series?${HOURS}`,
    (oracle, app, range) => oracle.series(app, range, KATHMANDU),
  ],
  [`series by hour, Kathmandu, ${SEGMENT}`]: [
    `sessions/series?${HOURS}&${NARROWED}`,
    (oracle, app, range) => oracle.series(app, range, KATHMANDU, MOBILE),
  ],
  'breakdown by browser': [
    'sessions/breakdown?by=browser',
    (oracle, app, range) => oracle.breakdown(app, range, 'browser'),
  ],
};

const FIXED = {
  trafficHeatmap: 'sessions/traffic-heatmap',
  audienceActivity: 'sessions/traffic-audience-activity',
  dataBounds: 'sessions/data-bounds',
} as const;

const RANGES = 3;
/** The number of questions with a range of their own. */
const QUESTIONS =
  RANGES * (Object.keys(RANGED).length + Object.keys(FURTHER).length) + Object.keys(FIXED).length;

export const POLLED = [...Object.values(RANGED).map(([path]) => path), ...Object.values(FIXED)];

/** Returns the questions about data of `days` days that end at `end`. */
function questionsAbout(site: Site, days: number, end: number): Asked[] {
  const app = appId(site.id);
  const from = end - (days - 1) * DAY_MS + 2_417;
  const ranges: Readonly<Record<string, (at: Moment) => OpenRange>> = {
    ragged: ({ turn }) => ({ from: epochMs(from + turn), to: epochMs(end - DAY_MS + turn) }),
    'ending now': ({ turn, now }) => ({ from: epochMs(from + turn), to: epochMs(now) }),
    unbounded: () => ({ from: null, to: null }),
  };
  const ranged = Object.entries({ ...RANGED, ...FURTHER }).flatMap(([endpoint, [path, answer]]) =>
    Object.entries(ranges).map(
      ([range, of]): Asked => ({
        endpoint,
        range,
        asked: range === 'unbounded' ? 'after an event' : 'new range',
        path: (at) =>
          `/api/v1/${path}${path.includes('?') ? '&' : '?'}appId=${app}${bound('from', of(at).from)}${bound('to', of(at).to)}`,
        answer: (oracle, at, clock) => answer(oracle, app, of(at), clock),
      }),
    ),
  );
  const fixed = (Object.keys(FIXED) as (keyof typeof FIXED)[]).map(
    (endpoint): Asked => ({
      endpoint,
      range: 'fixed',
      asked: 'after an event',
      path: () => `/api/v1/${FIXED[endpoint]}?appId=${app}`,
      answer: (oracle) => oracle[endpoint](app),
    }),
  );
  return [...ranged, ...fixed];
}

const bound = (name: string, at: number | null): string =>
  at === null ? '' : `&${name}=${new Date(at).toISOString()}`;

interface Times {
  readonly asked: Asked;
  readonly computed: number[];
  readonly unchanged: number[];
  exact: boolean;
}

/**
 * Asks every question `runs` times, with the keys in turn. Compares each answer with the exact count, and asks at once again
 * with its ETag. A first round is not measured.
 */
export async function askAll(
  recording: Recording,
  site: Site,
  { events, days, runs }: { readonly events: number; readonly days: number; readonly runs: number },
): Promise<void> {
  const { keys } = site.deployment;
  const end = Date.now();
  const times = questionsAbout(site, days, end).map(
    (asked): Times => ({ asked, computed: [], unchanged: [], exact: true }),
  );
  recording.progress.begin('questions', (runs + 1) * times.length);
  try {
    for (let turn = 0; turn <= runs; turn++) {
      for (const [i, entry] of times.entries()) {
        recording.progress.step(`${entry.asked.endpoint}, ${entry.asked.range}`);
        await ask(site, entry, turn, keys[(turn * times.length + i) % keys.length] ?? '');
      }
    }
  } finally {
    for (const { asked: of, computed, unchanged, exact } of times) {
      const { endpoint, range, asked } = of;
      const common = {
        bench: 'queries',
        name: `${endpoint}, ${range}`,
        unit: 'ms' as const,
        labels: { endpoint, range, events, days, over: 'HTTP', asked },
      };
      recording.record({ ...common, measure: 'computed', runs: computed, exact });
      recording.record({ ...common, measure: 'unchanged', runs: unchanged });
    }
  }
}

/** The rate limit of the keys decides how long the questions take at least. */
export async function sayHowLong(recording: Recording, deployment: Deployment, runs: number): Promise<void> {
  const perMinute = await deployment.requestsPerMinute(0);
  const requests = 2 * (runs + 1) * QUESTIONS;
  if (requests <= perMinute) return;
  recording.progress.say(
    `The keys allow ${perMinute} requests a minute together, and the questions are ${requests}: at least ${Math.ceil(requests / perMinute)} minutes. More keys of the account (--key), or a higher limit, shorten that.`,
  );
}

async function ask(site: Site, entry: Times, turn: number, key: string): Promise<void> {
  const { asked, computed, unchanged } = entry;
  if (asked.asked === 'after an event') await site.storeNew(1);
  const now = Date.now();
  const path = asked.path({ turn, now });
  const answer = await site.deployment.patiently(path, { key });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
  const got: unknown = JSON.parse(answer.text);
  // The service's clock read any moment since then, of which the last one may lie in another hour or day.
  entry.exact &&= [now, Date.now()].some((clock) =>
    isDeepStrictEqual(got, asPlain(asked.answer(site.oracle(clock), { turn, now }, clock))),
  );
  const again = await site.deployment.patiently(path, { key, etag: String(answer.headers['etag']) });
  if (turn === 0) return;
  computed.push(answer.ms);
  if (again.status === 304) unchanged.push(again.ms);
}

const asPlain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
