import type { FactKind } from './watermarks.ts';

/** Sums of finished buckets into a coarser grain: `{from}` ≤ bucket < `{to}`, epoch ms at the coarser grain. */
export interface RollUp {
  readonly grain: 'day' | 'month';
  readonly sql: string;
}

/** What of a table belongs to hours from the watermark on: rows for which `stale` holds are taken away. */
export interface Cut {
  readonly table: string;
  /** Over `{hour}`, `{day}`, `{month}`: the watermark, and the day and month that hold it; epoch ms. */
  readonly stale: string;
}

interface Grained {
  readonly table: string;
  readonly base: 'hour' | 'half_hour';
  readonly keys: readonly string[];
  readonly sums: readonly string[];
}

const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'];

/** Tables of sums by bucket at several grains: days are summed from hours, months from days. */
const GRAINED: { readonly [Kind in FactKind]: readonly Grained[] } = {
  page: [
    {
      table: 'event_facts',
      base: 'hour',
      keys: ['kind', 'key'],
      sums: ['events', 'first_sessions', 'engaged_ms', 'engagements'],
    },
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
    { table: 'session_dimensions', base: 'hour', keys: ['dimension', 'value'], sums: ['sessions'] },
    {
      table: 'session_places',
      base: 'hour',
      keys: ['country', 'region', 'city', 'latitude', 'longitude'],
      sums: ['sessions'],
    },
    { table: 'utm_sums', base: 'hour', keys: UTM, sums: ['sessions', 'new_visitors'] },
  ],
};

const at = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;

function sumUp({ table, base, keys, sums }: Grained, grain: 'day' | 'month'): RollUp {
  const list = keys.map((key) => `${key}, `).join('');
  const start = grain === 'day' ? 'toStartOfDay(t.bucket)' : 'toStartOfMonth(t.bucket)';
  return {
    grain,
    sql: `INSERT INTO ${table} (app_id, grain, bucket, ${list}${sums.join(', ')})
SELECT app_id, '${grain}', toDateTime(${start}, 'UTC') AS start, ${list}${sums.map((sum) => `sum(t.${sum})`).join(', ')}
FROM ${table} AS t
WHERE app_id IN {apps:Array(UUID)} AND grain = '${grain === 'day' ? base : 'day'}' AND bucket >= ${at('from')} AND bucket < ${at('to')}
GROUP BY app_id, start${keys.map((key) => `, ${key}`).join('')}`,
  };
}

const RETURN_DAYS: RollUp = {
  grain: 'day',
  sql: `INSERT INTO return_pairs (app_id, grain, a, b, sessions)
SELECT app_id, 'day', toStartOfDay(t.a) AS day, toStartOfDay(t.b) AS prev_day, sum(t.sessions)
FROM return_pairs AS t
WHERE app_id IN {apps:Array(UUID)} AND grain = 'hour_by_start' AND t.a >= ${at('from')} AND t.a < ${at('to')}
GROUP BY app_id, day, prev_day`,
};

const UTM_RETURN_DAYS: RollUp = {
  grain: 'day',
  sql: `INSERT INTO utm_return_pairs (app_id, day, prev_day, ${UTM.join(', ')}, sessions)
SELECT app_id, toDateTime(intDiv(started_at, 86400000) * 86400, 'UTC') AS day,
    toDateTime(intDiv(prev, 86400000) * 86400, 'UTC') AS prev_day, ${UTM.join(', ')}, count()
FROM utm_facts
WHERE app_id IN {apps:Array(UUID)} AND started_at >= {from:Int64} AND started_at < {to:Int64} AND prev != -1
GROUP BY app_id, day, prev_day, ${UTM.join(', ')}`,
};

/** In this order: months are summed from days. */
export const ROLL_UPS: { readonly [Kind in FactKind]: readonly RollUp[] } = {
  page: rollUps('page', []),
  session: rollUps('session', [RETURN_DAYS, UTM_RETURN_DAYS]),
};

function rollUps(kind: FactKind, extra: readonly RollUp[]): RollUp[] {
  const grained = GRAINED[kind];
  return [
    ...grained.map((table) => sumUp(table, 'day')),
    ...extra,
    ...grained.map((table) => sumUp(table, 'month')),
  ];
}

const grainedCut = ({ table, base }: Grained): Cut => ({
  table,
  stale: `(grain = '${base}' AND bucket >= ${at('hour')} OR grain = 'day' AND bucket >= ${at('day')} OR grain = 'month' AND bucket >= ${at('month')})`,
});

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
    {
      table: 'return_pairs',
      stale: `(grain = 'hour_by_start' AND a >= ${at('hour')} OR grain = 'hour_by_prev' AND b >= ${at('hour')} OR grain = 'day' AND a >= ${at('day')})`,
    },
    { table: 'utm_return_pairs', stale: `day >= ${at('day')}` },
    ...['session_facts', 'session_returns', 'utm_facts', 'utm_returns'].map((table) => ({
      table,
      stale: 'started_at >= {hour:Int64}',
    })),
    sealedHours('session'),
  ],
};
