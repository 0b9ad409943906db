import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { TooManyLate } from '../late/changes.ts';
import { int, uInt128s } from '../range/sql.ts';
import { NAME, type Single, type Visits } from './singles.ts';
import type { Open, OpenSession, Visitor } from './visitors.ts';

/*
 * Visitors of open sessions are counted by links: a session's start with its prev. The starts of the
 * visitor's sealed sessions tell which links disappear and which are new.
 */

/**
 * Gets a link that appears (1) or disappears (-1): a session's start, and the start of the same visitor's previous session;
 * -1 if there is none (epoch ms).
 */
export type AddLink = (sign: 1 | -1, key: string, startedAt: number, prev: number) => void;

/**
 * Finds the links that appear or disappear with the open sessions. The first link of a visitor without late
 * sessions leads to the last sealed session, which is looked up if a session `isNeeded` by its start.
 */
export async function addLinks(
  facts: SessionFacts,
  single: Single,
  { unsealed, late }: Open,
  isNeeded: (startedAt: number) => boolean,
  add: AddLink,
): Promise<void> {
  const { visits } = single;
  if (visits === null) return;
  const sessionsOf = new Map<Visitor, OpenSession[]>();
  for (const session of late) {
    for (const visitor of session.visitors) {
      const known = sessionsOf.get(visitor);
      if (known === undefined) sessionsOf.set(visitor, [session]);
      else known.push(session);
    }
  }
  const unknown = new Set<Visitor>();
  for (const session of unsealed) {
    for (const visitor of session.visitors) {
      const ofLate = sessionsOf.get(visitor);
      if (ofLate !== undefined) ofLate.push(session);
      else if (visitor.last === null && isNeeded(session.startedAt)) unknown.add(visitor);
    }
  }
  const [starts] = await Promise.all([
    allStarts(facts, single.name, visits, [...sessionsOf.keys()]),
    findLast(facts, single.name, visits, [...unknown]),
  ]);
  addNew(unsealed, sessionsOf, add);
  for (const [visitor, sessions] of sessionsOf) addChanged(visitor.key, sessions, starts(visitor), add);
}

/** Adds the links of unsealed sessions, without those of `late` visitors. */
function addNew(unsealed: readonly OpenSession[], late: ReadonlyMap<Visitor, unknown>, add: AddLink): void {
  for (const { visitors } of unsealed) for (const visitor of visitors) visitor.before = visitor.last ?? -1;
  for (const { visitors, startedAt } of unsealed) {
    for (const visitor of visitors) {
      if (late.has(visitor)) continue;
      add(1, visitor.key, startedAt, visitor.before);
      visitor.before = startedAt;
    }
  }
}

const byStart = (a: number, b: number): number => a - b;

/** Adds the links that differ between the sealed sessions and the sessions as they are now. */
function addChanged(
  key: string,
  sessions: readonly OpenSession[],
  sealed: readonly number[],
  add: AddLink,
): void {
  if (sealed.length > MOST_VISITS) throw new TooManyLate();
  const before = sealed.toSorted(byStart);
  const now = [...before];
  for (const { sign, startedAt } of sessions.toSorted((a, b) => a.sign - b.sign)) {
    if (sign === 1) now.push(startedAt);
    else if (now.includes(startedAt)) now.splice(now.indexOf(startedAt), 1);
  }
  const counts = new Map<string, number>();
  for (const [starts, sign] of [
    [before, -1],
    [now.sort(byStart), 1],
  ] as const) {
    for (const [i, startedAt] of starts.entries()) {
      const link = `${startedAt} ${starts[i - 1] ?? -1}`;
      counts.set(link, (counts.get(link) ?? 0) + sign);
    }
  }
  for (const [link, times] of counts) {
    const [startedAt = 0, prev = -1] = link.split(' ').map(Number);
    for (let n = 0; n < Math.abs(times); n++) add(times < 0 ? -1 : 1, key, startedAt, prev);
  }
}

/** Limit of sessions of one visitor. */
const MOST_VISITS = 10_000;
/** Up to this many visitors are found by the index. For more, the table is read on all cores. */
const FEW = 200;

const STARTS = rowOf([text, text, listOf(number)]);
const textOf = ({ name, key }: Pick<Visitor, 'name' | 'key'>): string => name + key;

/** A kind of starts of the visitors' sealed sessions. */
interface Sought {
  readonly name: string;
  /** SQL of an array of starts. */
  readonly starts: Sql;
}

/** Reads starts of the visitors' sealed sessions, by the visitor's name and key as one text. */
async function sealedStarts(
  { db, where, until }: SessionFacts,
  { table, key }: Visits,
  visitors: readonly Visitor[],
  { name, starts }: Sought,
): Promise<ReadonlyMap<string, readonly number[]>> {
  if (visitors.length === 0) return new Map();
  const names = [...new Set(visitors.map((visitor) => visitor.name))];
  const rows = await db.rows(
    {
      name: `visits, ${name}`,
      sql: sql`SELECT ${NAME}, ${key} AS key, ${starts} FROM ${table}
WHERE ${where} AND started_at < ${int(until)} AND visitor IN (SELECT arrayJoin(${uInt128s(names)})) GROUP BY visitor, key`,
      row: STARTS,
    },
    { searches: names.length <= FEW, parallel: names.length > FEW },
  );
  return new Map(rows.map(([name, key, at]) => [textOf({ name, key }), at]));
}

/** Finds the last sealed session of each visitor. */
async function findLast(
  facts: SessionFacts,
  name: string,
  visits: Visits,
  visitors: readonly Visitor[],
): Promise<void> {
  const sought = { name: `last ${name}`, starts: sql`[max(started_at)]` };
  const found = await sealedStarts(facts, visits, visitors, sought);
  for (const visitor of visitors) visitor.last = found.get(textOf(visitor))?.[0] ?? -1;
}

/** Returns the sealed sessions of each visitor. */
async function allStarts(
  facts: SessionFacts,
  name: string,
  visits: Visits,
  visitors: readonly Visitor[],
): Promise<(visitor: Visitor) => readonly number[]> {
  const byText = new Map(visitors.map((visitor) => [textOf(visitor), visitor]));
  const found = await recallStarts(facts, name, [...byText.keys()], async (unknown) => {
    const asked = unknown.flatMap((text) => byText.get(text) ?? []);
    const starts = sql`groupArray(${MOST_VISITS + 1})(started_at)`;
    const read = await sealedStarts(facts, visits, asked, { name: `all ${name}`, starts });
    return new Map(unknown.map((text) => [text, read.get(text) ?? []]));
  });
  return (visitor) => found.get(textOf(visitor)) ?? [];
}

/** All sealed sessions of visitors, by name and key as one text. */
type Starts = ReadonlyMap<string, readonly number[]>;

/** They are kept: they change with sealing alone. */
const recallStarts = (
  { app, cache }: SessionFacts,
  name: string,
  texts: readonly string[],
  load: (unknown: readonly string[]) => Promise<Starts>,
): Promise<Starts> => cache.recallEach(`visits ${app} ${name}`, texts, load, (starts) => starts.length);

/** Keeps starts that were read elsewhere. */
export async function keepStarts(facts: SessionFacts, { name }: Single, starts: Starts): Promise<void> {
  await recallStarts(facts, name, [...starts.keys()], async () => starts);
}
