import { DAY_MS } from '../domain/time.ts';
import type { FactKind } from './watermarks.ts';

/** Sums of finished buckets into coarser ones: `{from}` ≤ bucket < `{to}`, epoch ms, multiples of `unitMs`. */
export interface RollUp {
  readonly name: string;
  readonly unitMs: number;
  readonly sql: string;
}

/** What of a table belongs to hours from the watermark on: rows for which `stale` holds are taken away. */
export interface Cut {
  readonly table: string;
  /** Over `{hour}`, `{day}`, `{day4}` …: the starts of the buckets that hold the watermark; epoch ms. */
  readonly stale: string;
}

interface Grained {
  readonly table: string;
  readonly base: 'hour' | 'half_hour';
  readonly keys: readonly string[];
  readonly sums: readonly string[];
  /** Sorted by the bucket's day: the engine does not see by itself that a bucket bounds its day. */
  readonly byDay?: true;
}

const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];

/** Coarser than an hour, each summed from the one before. */
export const COARSE_UNITS = [
  ['day', DAY_MS],
  ['day4', 4 * DAY_MS],
  ['day16', 16 * DAY_MS],
  ['day64', 64 * DAY_MS],
  ['day256', 256 * DAY_MS],
] as const;

/** Tables of sums by bucket at several grains. */
const GRAINED: { readonly [Kind in FactKind]: readonly Grained[] } = {
  page: [
    {
      table: 'page_facts',
      base: 'hour',
      keys: ['key'],
      sums: ['events', 'repeats', 'engaged_ms', 'engagements'],
      byDay: true,
    },
    { table: 'label_facts', base: 'hour', keys: ['kind', 'key'], sums: ['events', 'repeats'] },
  ],
  session: [
    {
      table: 'session_sums',
      base: 'half_hour',
      keys: [],
      sums: [
        'sessions',
        'bounces',
        'duration_ms',
        'pageviews',
        'clicks',
        'with_errors',
        'new_visitors',
        'day_visitors',
        'tehran_visitors',
      ],
    },
    { table: 'session_dimensions', base: 'hour', keys: ['key'], sums: ['sessions'] },
    {
      table: 'session_places',
      base: 'hour',
      keys: ['place'],
      sums: ['sessions'],
    },
    { table: 'utm_sums', base: 'hour', keys: UTM, sums: ['sessions', 'new_visitors'] },
  ],
};

/** What `page_facts` is sorted by, in the place of the bucket. */
export const DAY_OF_BUCKET = 'toStartOfDay(bucket)';
/** Of a bucket of a day or more, which starts with its day. */
const bucketOf = (byDay: true | undefined): string => (byDay ? DAY_OF_BUCKET : 'bucket');
const at = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;

function sumUp({ table, base, keys, sums, byDay }: Grained, level: number): RollUp {
  const [grain, unitMs] = COARSE_UNITS[level] ?? COARSE_UNITS[0];
  const finer = COARSE_UNITS[level - 1]?.[0] ?? base;
  const list = keys.map((key) => `${key}, `).join('');
  const seconds = unitMs / 1000;
  const bucket = bucketOf(byDay);
  return {
    name: `${table} ${grain}`,
    unitMs,
    sql: `INSERT INTO ${table} (app_id, grain, bucket, ${list}${sums.join(', ')})
SELECT app_id, '${grain}', toDateTime(intDiv(toUnixTimestamp(t.bucket), ${seconds}) * ${seconds}, 'UTC') AS start, ${list}${sums.map((sum) => `sum(t.${sum})`).join(', ')}
FROM ${table} AS t
WHERE app_id IN {apps:Array(UUID)} AND grain = '${finer}' AND ${bucket} >= ${at('from')} AND ${bucket} < ${at('to')}
GROUP BY app_id, start${keys.map((key) => `, ${key}`).join('')}`,
  };
}

const RETURN_DAYS: RollUp = {
  name: 'return_pairs',
  unitMs: DAY_MS,
  sql: `INSERT INTO return_pairs (app_id, day, prev_day, sessions)
SELECT app_id, toDateTime(intDiv(started_at, 86400000) * 86400, 'UTC') AS day,
    toDateTime(intDiv(prev, 86400000) * 86400, 'UTC') AS prev_day, count()
FROM session_facts
WHERE app_id IN {apps:Array(UUID)} AND started_at >= {from:Int64} AND started_at < {to:Int64} AND prev != -1
GROUP BY app_id, day, prev_day`,
};

const UTM_RETURN_DAYS: RollUp = {
  name: 'utm_return_pairs',
  unitMs: DAY_MS,
  sql: `INSERT INTO utm_return_pairs (app_id, day, prev_day, ${UTM.join(', ')}, sessions)
SELECT app_id, toDateTime(intDiv(started_at, 86400000) * 86400, 'UTC') AS day,
    toDateTime(intDiv(prev, 86400000) * 86400, 'UTC') AS prev_day, ${UTM.join(', ')}, count()
FROM utm_facts
WHERE app_id IN {apps:Array(UUID)} AND started_at >= {from:Int64} AND started_at < {to:Int64} AND prev != -1
GROUP BY app_id, day, prev_day, ${UTM.join(', ')}`,
};

/** In this order: coarser buckets are summed from finer ones. */
export const ROLL_UPS: { readonly [Kind in FactKind]: readonly RollUp[] } = {
  page: rollUps('page', []),
  session: rollUps('session', [RETURN_DAYS, UTM_RETURN_DAYS]),
};

function rollUps(kind: FactKind, extra: readonly RollUp[]): RollUp[] {
  return [...COARSE_UNITS.flatMap((_, level) => GRAINED[kind].map((table) => sumUp(table, level))), ...extra];
}

const grainedCut = ({ table, base, byDay }: Grained): Cut => {
  const finest = `grain = '${base}' AND bucket >= ${at('hour')}${byDay ? ` AND ${DAY_OF_BUCKET} >= ${at('day')}` : ''}`;
  const coarse = COARSE_UNITS.map(([grain]) => `grain = '${grain}' AND ${bucketOf(byDay)} >= ${at(grain)}`);
  return { table, stale: `(${[finest, ...coarse].join(' OR ')})` };
};

const sealedHours = (kind: FactKind): Cut => ({
  table: 'sealed_hours',
  stale: `kind = '${kind}' AND hour >= ${at('hour')}`,
});

/** Every table of facts, by kind: what a run that starts at a watermark must not find there. */
export const CUTS: { readonly [Kind in FactKind]: readonly Cut[] } = {
  page: [
    ...GRAINED.page.map(grainedCut),
    { table: 'revisits', stale: `hour >= ${at('hour')}` },
    sealedHours('page'),
  ],
  session: [
    ...GRAINED.session.map(grainedCut),
    { table: 'return_pairs', stale: `day >= ${at('day')}` },
    { table: 'utm_return_pairs', stale: `day >= ${at('day')}` },
    ...['session_facts', 'visitor_sessions', 'session_returns', 'utm_facts', 'utm_returns'].map((table) => ({
      table,
      stale: 'started_at >= {hour:Int64}',
    })),
    sealedHours('session'),
  ],
};
