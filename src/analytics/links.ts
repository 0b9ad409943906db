import { z } from 'zod';
import type { SessionFacts } from './ask.ts';
import { TooManyLate } from './late.ts';
import { NAME, type OpenSession, type Single, type Visits } from './singles.ts';
import { int, inUInt128 } from './sql.ts';

/*
 * Visitors of open sessions are counted by links: a session's start with its prev. The starts of the
 * visitor's sealed sessions tell which links disappear and which are new.
 */

/** A session's start, with the start of the same visitor's previous session; -1 if there is none. */
export interface Link {
  readonly sign: 1 | -1;
  readonly key: string;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly prev: number;
}

/** The sessions of a visitor under a key. */
export interface Visitor {
  readonly name: string;
  readonly key: string;
  readonly sessions: OpenSession[];
}

/** Groups sessions by visitor and key. */
export function byVisitor(sessions: readonly OpenSession[]): readonly Visitor[] {
  const visitors = new Map<string, Visitor>();
  for (const session of sessions) {
    for (const key of session.keys) {
      const id = session.visitor + key;
      const known = visitors.get(id);
      if (known === undefined) visitors.set(id, { name: session.visitor, key, sessions: [session] });
      else known.sessions.push(session);
    }
  }
  return [...visitors.values()];
}

/**
 * Returns the links that appear or disappear with the sessions of these visitors. Without late sessions, only
 * the first link of a visitor depends on sealed sessions; it is -1 if no session `isNeeded` by its start.
 */
export async function linksOf(
  facts: SessionFacts,
  { name, visits }: Single,
  visitors: readonly Visitor[],
  isNeeded: (startedAt: number) => boolean,
): Promise<Link[]> {
  if (visits === null) return [];
  const late: Visitor[] = [];
  const others: Visitor[] = [];
  for (const visitor of visitors) (isLate(visitor, facts.until) ? late : others).push(visitor);
  const known = others.filter(({ sessions }) => sessions.some(({ startedAt }) => isNeeded(startedAt)));
  const [starts, last] = await Promise.all([
    sealedStarts(facts, `all ${name}`, visits, `groupArray(${MOST_VISITS + 1})(started_at)`, late),
    sealedStarts(facts, `last ${name}`, visits, '[max(started_at)]', known),
  ]);
  return [
    ...late.flatMap((visitor) => changedLinks(visitor, starts(visitor))),
    ...others.flatMap((visitor) => newLinks(visitor, last(visitor).at(-1) ?? -1)),
  ];
}

/** Whether a visitor has late sessions, which lie among the sealed ones. */
const isLate = ({ sessions }: Visitor, until: number): boolean =>
  sessions.some(({ startedAt }) => startedAt < until);

const byStart = (a: number, b: number): number => a - b;

/** The links of sessions that all follow the last sealed one. */
function newLinks({ key, sessions }: Visitor, last: number): Link[] {
  let prev = last;
  return sessions
    .map(({ startedAt }) => startedAt)
    .sort(byStart)
    .map((startedAt) => {
      const link = { sign: 1, key, startedAt, prev } as const;
      prev = startedAt;
      return link;
    });
}

/** The links that differ between the sealed sessions and the sessions as they are now. */
function changedLinks({ key, sessions }: Visitor, sealed: readonly number[]): Link[] {
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
  return [...counts].flatMap(([link, times]): Link[] => {
    const [startedAt = 0, prev = -1] = link.split(' ').map(Number);
    const sign = times < 0 ? -1 : 1;
    return Array.from({ length: Math.abs(times) }, () => ({ sign, key, startedAt, prev }));
  });
}

/** Limit of sessions of one visitor. */
const MOST_VISITS = 10_000;
/** Limit of one statement: the engine accepts 256 KiB of text. */
const MOST_NAMED = 10_000;
/** Up to this many visitors need a few granules; for more the statement uses all cores. */
const FEW = 200;

const STARTS = z.tuple([z.string(), z.string(), z.array(z.number())]);
type Starts = ReadonlyMap<string, readonly number[]>;

/** Reads the starts of the visitors' sealed sessions, by key. They are kept: they change with sealing alone. */
async function sealedStarts(
  { db, app, where, until, cache }: SessionFacts,
  name: string,
  { table, key }: Visits,
  starts: string,
  visitors: readonly Visitor[],
): Promise<(visitor: Visitor) => readonly number[]> {
  const found = await cache.recallEach<Starts>(
    `visits ${app} ${name}`,
    [...new Set(visitors.map((visitor) => visitor.name))],
    async (unknown) => {
      const read = new Map(unknown.map((visitor) => [visitor, new Map<string, readonly number[]>()]));
      for (let at = 0; at < unknown.length; at += MOST_NAMED) {
        const listed = unknown.slice(at, at + MOST_NAMED);
        const sql = `SELECT ${NAME}, ${key} AS key, ${starts} FROM ${table}
WHERE ${where} AND started_at < ${int(until)} AND ${inUInt128('visitor', listed)} GROUP BY visitor, key`;
        const options = { searches: true, parallel: listed.length > FEW };
        const rows = await db.rows({ name: `visits, ${name}`, sql, row: STARTS }, options);
        for (const [visitor, own, at] of rows) read.get(visitor)?.set(own, at);
      }
      return read;
    },
    (own) => own.size,
  );
  return (visitor) => found.get(visitor.name)?.get(visitor.key) ?? [];
}
