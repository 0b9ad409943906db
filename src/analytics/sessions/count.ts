import { sql } from '../../clickhouse/sql.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { TooManyLate } from '../late/changes.ts';
import type { Hour } from '../memory/hour.ts';
import { AFTER_EVENTS, byTurn, type HourSource, hoursOf, type Turns } from '../memory/hours.ts';
import type { Row } from '../memory/rows.ts';
import { type Grid, sinceOf, sliceOf } from '../range/grid.ts';
import { type Plan, type Span, spanOf } from '../range/plan.ts';
import { edgeRanges, inMs } from '../range/sql.ts';
import { countParts, countTail } from './in-store.ts';
import { type AddLink, addLinks } from './links.ts';
import { NOTHING_OPEN, readOpen } from './open.ts';
import { type Single, widthOf } from './singles.ts';
import type { OpenSession } from './visitors.ts';

/**
 * Counts sessions one by one: those of the edges, and the open sessions of the grid's range. Returns a
 * row for each slice (its number), or for each key if the sessions have keys: the number of sessions, their
 * values, and the visitors and new visitors of each slice. New visitors are right only with `ever`, which
 * looks up all earlier sessions.
 */
export async function singlesOf(
  facts: SessionFacts,
  single: Single,
  grid: Grid,
  { inMemory, inStore }: Turns<Span>,
  ever = false,
): Promise<Row[]> {
  const isSealed = grid.to < facts.until && facts.lateHours.length === 0;
  const [hours, counted, open] = await Promise.all([
    hoursOf(facts.db, edgeSource(facts, single), inMemory),
    countParts(facts, single, grid, inStore),
    isSealed ? NOTHING_OPEN : readOpen(facts, single),
  ]);
  const sums = new Sums(single, grid);
  for (const { part, hour } of hours) sums.addHour(hour, part);
  if (open === null) {
    if (facts.lateHours.length > 0) throw new TooManyLate();
    return [...counted, ...sums.rows(), ...(await countTail(facts, single, grid))];
  }
  // Where a slice begins after the watermark, all sealed sessions lie before it.
  const isNeeded = (at: number): boolean => ever || sinceOf(grid, sliceOf(grid, at)) < facts.until;
  // The store looks visitors up while the sessions are added.
  const linked = addLinks(facts, single, open, isNeeded, sums.addLink);
  sums.addSessions(open.unsealed);
  sums.addSessions(open.late);
  await linked;
  return [...counted, ...sums.rows()];
}

/** The edges of the plans. */
export const edgesOf = (facts: SessionFacts, single: Single, plans: readonly Plan[]): Turns<Span> =>
  byTurn(edgeSource(facts, single), plans.flatMap(edgeRanges).map(spanOf));

const edgeSource = ({ where, cache }: SessionFacts, single: Single): HourSource => ({
  name: `edges, ${single.name}`,
  at: sql`started_at`,
  key: single.keys === null ? sql`''` : sql`arrayJoin(${single.keys})`,
  others: [...(single.visits === null ? [] : [sql`prev`]), ...single.values],
  from: (hours: readonly Span[]) =>
    sql`FROM ${single.table} WHERE ${where} AND ${inMs(sql`started_at`, hours)}`,
  countedTimes: AFTER_EVENTS,
  memoryOf: () => cache,
});

/** The sums of each row, by slice or by key. */
class Sums {
  readonly #single: Single;
  readonly #grid: Grid;
  readonly #width: number;
  readonly #sums = new Map<string | number, number[]>();

  constructor(single: Single, grid: Grid) {
    this.#single = single;
    this.#grid = grid;
    this.#width = widthOf(single);
  }

  /** Adds the sessions of a part of an hour. */
  addHour(hour: Hour, part: Span): void {
    const { keys, times, keyOf } = hour;
    const { visits } = this.#single;
    const [prev, values] =
      visits === null ? [undefined, hour.others] : [hour.others[0], hour.others.slice(1)];
    const byKey = new Array<number[] | undefined>(this.#single.keys === null ? 0 : keys.length);
    const [first, end] = hour.rowsIn(part);
    for (let row = first; row < end; row++) {
      const at = times[row] as number;
      const key = keyOf[row] as number;
      const own = byKey[key] ?? this.#of(keys[key] as string, at);
      if (key < byKey.length) byKey[key] = own;
      own[0] = (own[0] as number) + 1;
      for (let n = 0; n < values.length; n++) {
        own[1 + n] = (own[1 + n] as number) + (values[n]?.[row] as number);
      }
      if (prev !== undefined) this.#addVisitor(own, at, prev[row] as number, 1);
    }
  }

  addSessions(sessions: readonly OpenSession[]): void {
    const { from, to } = this.#grid;
    for (const { sign, startedAt, visitors, values } of sessions) {
      if (startedAt < from || startedAt > to) continue;
      for (const { key } of visitors) {
        const own = this.#of(key, startedAt);
        own[0] = (own[0] as number) + sign;
        for (let n = 0; n < values.length; n++) {
          own[1 + n] = (own[1 + n] as number) + sign * (values[n] as number);
        }
      }
    }
  }

  readonly addLink: AddLink = (sign, key, startedAt, prev) => {
    const { from, to } = this.#grid;
    if (startedAt < from || startedAt > to) return;
    this.#addVisitor(this.#of(key, startedAt), startedAt, prev, sign);
  };

  rows(): Row[] {
    return [...this.#sums].map(([key, sums]) => [`${key}`, ...sums]);
  }

  #addVisitor(own: number[], at: number, prev: number, sign: number): void {
    const visitors = this.#width - 2;
    if (prev < sinceOf(this.#grid, sliceOf(this.#grid, at))) own[visitors] = (own[visitors] as number) + sign;
    if (prev === -1) own[visitors + 1] = (own[visitors + 1] as number) + sign;
  }

  #of(key: string, at: number): number[] {
    const name = this.#single.keys === null ? sliceOf(this.#grid, at) : key;
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const own = new Array<number>(this.#width).fill(0);
    this.#sums.set(name, own);
    return own;
  }
}
