import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { join, sql } from '../../clickhouse/sql.ts';
import { EVER } from '../../domain/time.ts';
import { lateVersion } from '../../snapshots/late-hour.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { pendingSessions } from '../late/pending.ts';
import type { Row } from '../memory/rows.ts';
import { type Grid, sliceOf } from '../range/grid.ts';
import { columnsOf, keysOf, type Measure, widthOf } from './measures.ts';
import { sealedStarts, VISITOR } from './sealed-starts.ts';

/*
 * The pending sessions of a version as a measure needs them, for all questions about it. While events come in, a poller asks
 * many questions about each version, and to plan a statement takes longer than to count some thousand sessions.
 */

/** If more sessions are pending, the store counts them. */
const MOST = 20_000;

/** About how many small values a session takes in memory. */
const VALUES = 6;

/** Sign, start (epoch ms), visitor ('' if visitors are not counted), keys, and the values of the measure. */
const SESSION = rowOf([number, number, text, listOf(text)], number);
type Session = ReturnType<typeof SESSION.parse>;
const FIRST_VALUE = 4;

/**
 * Returns the pending sessions of the app that the measure counts; null if they are too many, or if `sessions` does not hold all
 * of them. The unsealed ones are read once for each version, the others once for each late event. Throws `TooManyLate`.
 */
async function readFew(facts: SessionFacts, measure: Measure): Promise<readonly Session[] | null> {
  const { db, app, version, live, until, keptFrom, lateHours } = facts;
  const { name, keys, values, visits } = measure;
  if (until < keptFrom) return null;
  const read = async (kind: 'unsealed' | 'late'): Promise<readonly Session[] | null> => {
    const pending = await pendingSessions(facts);
    const sessions = pending[kind](EVER, columnsOf(measure));
    if (sessions === null) return [];
    const columns = [
      sql`sign`,
      sql`toUnixTimestamp64Milli(started_at)`,
      visits === null ? sql`''` : VISITOR,
      keysOf(measure),
      ...values.map((value) => sql`toInt64(${value})`),
    ];
    const counted = keys === null ? sql`` : sql` WHERE notEmpty(${keys})`;
    const query = {
      name: `${kind} sessions, ${name}`,
      sql: sql`SELECT ${join(columns)} FROM (${sessions})${counted} LIMIT ${MOST + 1}`,
      row: SESSION,
    };
    const rows = await db.rows(query, { parallel: true }, pending.params);
    return rows.length > MOST ? null : rows;
  };
  const sizeOf = (rows: readonly Session[] | null): number => VALUES * (rows?.length ?? 0);
  const [unsealed, late] = await Promise.all([
    live.latest(`unsealed ${name} ${app}`, version, () => read('unsealed'), sizeOf),
    lateHours.length === 0
      ? []
      : live.latest(`late ${name} ${app}`, lateVersion(lateHours), () => read('late'), sizeOf),
  ]);
  if (unsealed === null || late === null || unsealed.length + late.length > MOST) return null;
  return late.length === 0 ? unsealed : [...unsealed, ...late];
}

/** Tells whether nobody has asked for the measure since the last sealing. Asking is kept in mind. */
function isFirstQuestion({ app, live }: SessionFacts, { name }: Measure): boolean {
  const key = `asked ${name} ${app}`;
  const isFirst = live.get(key) === undefined;
  if (isFirst) live.set(key, {}, 0);
  return isFirst;
}

/**
 * Counts what the pending sessions change, as `countInStore` does. Null if the store shall count, or if they or the sealed
 * sessions of their visitors are too many, which is kept in mind until the next sealing. Throws `TooManyLate`.
 */
export async function countFew(facts: SessionFacts, measure: Measure, grid: Grid): Promise<Row[] | null> {
  // Many sessions are counted sooner than handed over, if the starts of their visitors are not needed, or not kept yet.
  if (facts.areMany && (measure.visits === null || isFirstQuestion(facts, measure))) return null;
  const tooMany = `too many, ${measure.name} ${facts.app}`;
  if (facts.live.get(tooMany) !== undefined) return null;
  const sessions = await readFew(facts, measure);
  const rows = sessions && (await countRows(facts, measure, grid, sessions));
  if (rows === null) facts.live.set(tooMany, {}, 0);
  return rows;
}

/** Null if the sealed sessions of the visitors are too many. */
async function countRows(
  facts: SessionFacts,
  measure: Measure,
  grid: Grid,
  sessions: readonly Session[],
): Promise<Row[] | null> {
  const sums = new Map<string | number, number[]>();
  const width = widthOf(measure);
  const sumsOf = (key: string, slice: number): number[] => {
    const name = measure.keys === null ? slice : key;
    const known = sums.get(name);
    if (known !== undefined) return known;
    const own = new Array<number>(width).fill(0);
    sums.set(name, own);
    return own;
  };
  for (const session of sessions) {
    const [sign, at, , keys] = session;
    const slice = placeOf(grid, at);
    if (slice === BEFORE || slice === AFTER) continue;
    for (const key of keys) {
      const own = sumsOf(key, slice);
      add(own, 0, sign);
      for (let n = 0; n < measure.values.length; n++) {
        add(own, 1 + n, sign * (session[FIRST_VALUE + n] as number));
      }
    }
  }
  if (measure.visits !== null) {
    const visitors = visitorsOf(sessions);
    const sealed = await sealedStarts(facts, measure.name, measure.visits, [...visitors.keys()]);
    if (sealed === null) return null;
    for (const [visitor, byKey] of visitors) {
      for (const [key, pending] of byKey) {
        const starts = sealed.get(visitor)?.find(([of]) => of === key)?.[1] ?? [];
        for (const { slice, visits, firsts } of changedVisits(grid, pending, starts)) {
          const own = sumsOf(key, slice);
          add(own, width - 2, visits);
          add(own, width - 1, firsts);
        }
      }
    }
  }
  return [...sums].map(([name, own]): Row => [`${name}`, ...own]);
}

function add(sums: number[], i: number, n: number): void {
  sums[i] = (sums[i] as number) + n;
}

/** Sign and start of a pending session. */
type Start = readonly [sign: number, at: number];

/** The pending sessions of each visitor and key. */
function visitorsOf(
  sessions: readonly Session[],
): ReadonlyMap<string, ReadonlyMap<string, readonly Start[]>> {
  const visitors = new Map<string, Map<string, Start[]>>();
  for (const [sign, at, visitor, keys] of sessions) {
    for (const key of keys) {
      const byKey = visitors.get(visitor) ?? new Map<string, Start[]>();
      const known = byKey.get(key);
      if (known === undefined) visitors.set(visitor, byKey.set(key, [[sign, at]]));
      else known.push([sign, at]);
    }
  }
  return visitors;
}

interface Changed {
  readonly slice: number;
  /** 1 if the visitor counts in the slice now and the facts do not count it, -1 the other way round. */
  readonly visits: number;
  /** The same for a new visitor. */
  readonly firsts: number;
}

/** Tells what the pending sessions of a visitor change. `sealed`: the starts of all its sealed ones. */
function changedVisits(grid: Grid, pending: readonly Start[], sealed: readonly number[]): Changed[] {
  const earlier = tally(grid, BEFORE, pending, sealed);
  const slices = new Set<number>();
  for (const [, at] of pending) slices.add(placeOf(grid, at));
  // A pending session from before the range tells that a sealed one is not the first, or that it is.
  if (earlier.now > 0 !== earlier.held > 0) for (const at of sealed) slices.add(placeOf(grid, at));
  const changed: Changed[] = [];
  for (const slice of slices) {
    if (slice === BEFORE || slice === AFTER) continue;
    const { now, held } = tally(grid, slice, pending, sealed);
    changed.push({
      slice,
      visits: Number(now > 0) - Number(held > 0),
      firsts: Number(now > 0 && earlier.now === 0) - Number(held > 0 && earlier.held === 0),
    });
  }
  return changed;
}

/** Before the range, and after it. */
const BEFORE = Number.NEGATIVE_INFINITY;
const AFTER = Number.POSITIVE_INFINITY;

/** The slice of an instant. */
function placeOf(grid: Grid, at: number): number {
  if (at < grid.from) return BEFORE;
  return at > grid.to ? AFTER : sliceOf(grid, at);
}

/** Returns how many of the sessions in a slice there are now, and how many the facts have. */
function tally(
  grid: Grid,
  slice: number,
  pending: readonly Start[],
  sealed: readonly number[],
): { readonly now: number; readonly held: number } {
  let held = 0;
  for (const at of sealed) if (placeOf(grid, at) === slice) held++;
  let now = held;
  for (const [sign, at] of pending) if (placeOf(grid, at) === slice) now += sign;
  return { now, held };
}
