import { isDeepStrictEqual } from 'node:util';
import { kpiRange } from '../../src/analytics/range/ranges.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs, type OpenRange } from '../../src/domain/time.ts';
import type { Oracle } from '../../test/support/oracle/oracle.ts';
import type { Recording } from '../recording.ts';
import type { Site } from './site.ts';

const DAY_MS = 86_400_000;

/** A question over HTTP, with its exact answer by the oracle. */
interface Asked {
  readonly endpoint: string;
  readonly range: string;
  /** `turn` moves the ends of the range by milliseconds, so that no kept answer fits. */
  path(turn: number): string;
  answer(oracle: Oracle, now: number, turn: number): unknown;
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

const FIXED = {
  trafficHeatmap: 'sessions/traffic-heatmap',
  audienceActivity: 'sessions/traffic-audience-activity',
  dataBounds: 'sessions/data-bounds',
} as const;

export const POLLED = [...Object.values(RANGED).map(([path]) => path), ...Object.values(FIXED)];

/** Returns the questions about data of `days` days that end at `end`. */
function questionsAbout(site: Site, days: number, end: number): Asked[] {
  const app = appId(site.id);
  const from = epochMs(end - (days - 1) * DAY_MS + 2_417);
  const ranges: Readonly<Record<string, (turn: number) => OpenRange>> = {
    ragged: (turn) => ({ from: epochMs(from + turn), to: epochMs(end - DAY_MS + turn) }),
    'ending now': (turn) => ({ from: epochMs(from + turn), to: epochMs(end) }),
    unbounded: () => ({ from: null, to: null }),
  };
  const ranged = Object.entries(RANGED).flatMap(([endpoint, [path, answer]]) =>
    Object.entries(ranges).map(
      ([range, at]): Asked => ({
        endpoint,
        range,
        path: (turn) =>
          `/api/v1/${path}?appId=${app}${bound('from', at(turn).from)}${bound('to', at(turn).to)}`,
        answer: (oracle, now, turn) => answer(oracle, app, at(turn), now),
      }),
    ),
  );
  const fixed = (Object.keys(FIXED) as (keyof typeof FIXED)[]).map(
    (endpoint): Asked => ({
      endpoint,
      range: 'fixed',
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
 * Asks every question `runs` times, compares each answer with the exact count, and asks at once again with its ETag.
 * A first round is not measured.
 */
export async function askAll(
  recording: Recording,
  site: Site,
  { days, runs }: { readonly days: number; readonly runs: number },
): Promise<void> {
  const end = Date.now();
  const times = questionsAbout(site, days, end).map(
    (asked): Times => ({ asked, computed: [], unchanged: [], exact: true }),
  );
  recording.progress.begin('questions', (runs + 1) * times.length);
  try {
    for (let turn = 0; turn <= runs; turn++) {
      for (const entry of times) {
        recording.progress.step(`${entry.asked.endpoint}, ${entry.asked.range}`);
        await ask(site, entry, turn);
      }
    }
  } finally {
    for (const { asked, computed, unchanged, exact } of times) {
      const { endpoint, range } = asked;
      const name = `${endpoint}, ${range}`;
      const common = {
        bench: 'queries',
        name,
        unit: 'ms' as const,
        labels: { endpoint, range, days, over: 'HTTP' },
      };
      recording.record({ ...common, measure: 'computed', runs: computed, exact });
      recording.record({ ...common, measure: 'unchanged', runs: unchanged });
    }
  }
}

async function ask(site: Site, entry: Times, turn: number): Promise<void> {
  const { asked, computed, unchanged } = entry;
  const key = site.deployment.firstKey;
  const path = asked.path(turn);
  const before = Date.now();
  const answer = await site.deployment.patiently(path, { key });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
  const got: unknown = JSON.parse(answer.text);
  // The service's clock read any moment between the two, of which one may lie in another hour or day.
  entry.exact &&= [before, Date.now()].some((now) =>
    isDeepStrictEqual(got, asPlain(asked.answer(site.oracle(now), now, turn))),
  );
  const again = await site.deployment.patiently(path, { key, etag: String(answer.headers['etag']) });
  if (turn === 0) return;
  computed.push(answer.ms);
  if (again.status === 304) unchanged.push(again.ms);
}

const asPlain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
