import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import { type Commit, typesOf } from '../../domain/commits.ts';
import { HOUR_MS, hourOf, isWithin } from '../../domain/time.ts';
import { EVENT_SUMS } from '../answers/figures.ts';
import type { EventFacts } from '../input/app-facts.ts';
import { ROW, type Row, sumByKey } from '../memory/rows.ts';
import type { Span } from '../range/plan.ts';
import { bucket, int, isEmpty, ofApp } from '../range/sql.ts';
import { tehranHourOf } from '../range/tehran.ts';

/* The table `traffic`: sums of events by hour and day. A view keeps them current to the last event. */

export type EventSum = keyof typeof EVENT_SUMS;
export const EVENT_SUM_NAMES = Object.keys(EVENT_SUMS) as EventSum[];

/** SQL of the sums over rows of `traffic AS t`. */
export const SUMS_OF_TRAFFIC = join(EVENT_SUM_NAMES.map((name) => sql`sum(t.${identifier(name)})`));

/** The bucket of Tehran's hour that holds an instant, epoch ms. No bucket begins before 1970, where the first one is cut. */
export const tehranBucketOf = (at: number): number => Math.max(tehranHourOf(at), 0);

/**
 * The hours of UTC and of Tehran. `code`: in `traffic`. `earlierMs`: how much earlier than UTC's they begin. `startOf`: the
 * start of the hour that holds an instant, epoch ms.
 */
const HOURS = {
  utc: { code: 1, earlierMs: 0, startOf: hourOf },
  tehran: { code: 3, earlierMs: HOUR_MS / 2, startOf: tehranBucketOf },
} as const;
type HoursOf = keyof typeof HOURS;

/** The start of the first hour that is not sealed as a whole, epoch ms. */
export const firstUnsealed = ({ until }: EventFacts, of: HoursOf): number => until - HOURS[of].earlierMs;

/** The sums of an hour. `at` is its start, epoch ms. */
export interface TrafficHour {
  readonly at: number;
  readonly sums: readonly number[];
}

/** Sums of `traffic`. They are kept, and later commits are added to them. */
interface Source {
  readonly name: string;
  /** SQL of rows: a key, and the sums. */
  readonly statement: Sql;
  /** The keys of the rows in which half an hour counts; `at` is its start, epoch ms. */
  keysOf(at: number): readonly string[];
}

interface Read {
  readonly rows: readonly Row[];
  /** The rows hold exactly the commits up to here; null if that is not known. */
  readonly position: number | null;
}

const sizeOf = ({ rows }: Read): number => rows.length * (1 + EVENT_SUM_NAMES.length);

/** Returns the rows. Where the commits since they were read are not known, `recall` returns or loads them. */
async function currentRows(
  { db, app, sums }: EventFacts,
  { name, statement, keysOf }: Source,
  recall: (load: () => Promise<Read>) => Promise<Read>,
): Promise<readonly Row[]> {
  const known = sums.get<Read>(statement);
  const commits = db.own.commitsSince(app, known?.position ?? null);
  if (known !== undefined && commits?.length === 0) return known.rows;
  let read: Read;
  if (known !== undefined && commits !== null) {
    read = { rows: withCommits(known.rows, commits, keysOf), position: db.own.position(app) };
  } else {
    read = await recall(async () => {
      const before = db.own.settledPosition(app);
      const rows = await db.rows({ name, sql: statement, row: ROW });
      return { rows, position: db.own.settledPosition(app) === before ? before : null };
    });
  }
  if (read.position !== null) sums.set(statement, read, sizeOf(read));
  return read.rows;
}

function withCommits(rows: readonly Row[], commits: readonly Commit[], keysOf: Source['keysOf']): Row[] {
  const more = typesOf(commits).flatMap(({ at, type, events }) => {
    const own = EVENT_SUM_NAMES.map((sum) => (EVENT_SUMS[sum] === type ? events : 0));
    return keysOf(at).map((key): Row => [key, ...own]);
  });
  return [...sumByKey([...rows, ...more])].map(([key, sums]): Row => [key, ...sums]);
}

/** Returns the sums of sealed hours, which lie in the spans. */
export const sealedSums = (
  facts: EventFacts,
  spans: readonly Span[],
  source: Source,
): Promise<readonly Row[]> =>
  currentRows(facts, source, (load) => facts.of(spans).recall(source.statement, load, sizeOf));

/** Returns the unsealed hours of these spans. One statement reads them for all questions about a version. */
export async function unsealedHours(
  facts: EventFacts,
  of: HoursOf,
  spans: readonly Span[],
): Promise<readonly TrafficHour[]> {
  if (spans.every(isEmpty)) return [];
  const { app, until, version, live } = facts;
  const first = until - HOURS.tehran.earlierMs;
  const codes = join(Object.values(HOURS).map(({ code }) => int(code)));
  const rows = await currentRows(
    facts,
    {
      name: 'unsealed traffic',
      statement: sql`SELECT concat(toString(toUInt8(grain)), ' ', toString(toUnixTimestamp(bucket) * 1000)) AS hour, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(app)} AND grain IN (${codes}) AND bucket >= ${bucket(first)} GROUP BY grain, bucket`,
      keysOf: (at) =>
        Object.values(HOURS)
          .map(({ code, startOf }) => [code, startOf(at)] as const)
          .filter(([, start]) => start >= first)
          .map((hour) => hour.join(' ')),
    },
    (load) => live.latest(`traffic ${app}`, version, load, sizeOf),
  );
  return rows.flatMap(([key, ...sums]) => {
    const [code, at = 0] = key.split(' ').map(Number);
    return code === HOURS[of].code && isWithin(spans, at) ? { at, sums } : [];
  });
}
