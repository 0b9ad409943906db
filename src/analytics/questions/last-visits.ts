import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Facts, SessionFacts } from '../ask.ts';
import { int, inUInt128, ofApp } from '../sql.ts';

/*
 * Caches the last sealed session of each visitor of the tail. Every question about a range that ends now
 * needs it, for mostly the same visitors, and it stays the same until more is sealed, whatever the range.
 */

/** Length of a visitor's name: the base64 of 16 bytes. */
const NAME_LENGTH = 24;
/** If the tail has more visitors, they are counted in the store. */
const MOST_NAMED = 20_000;
/** Limit of one statement: the engine accepts 256 KiB of text. */
const MOST_LISTED = 12_000;
/** Up to this many visitors need a few granules; for more the statement uses all cores. */
const FEW = 200;

/** SQL of the name of a `visitor` (UInt128). */
export const NAME = 'base64Encode(reinterpretAsFixedString(visitor))';
/** SQL of the distinct names in rows with visitors. */
export const NAMED_VISITORS = `groupUniqArray(${MOST_NAMED + 1})(${NAME})`;
export const NAMES = z.array(z.string());

/** Whether the list of names was cut off. */
export const areTooMany = (names: z.infer<typeof NAMES>): boolean => names.length > MOST_NAMED;

/** A kind of visit that is looked up: any session, or a session with the same words in some columns. */
interface Visits {
  readonly name: string;
  readonly table: string;
  readonly words: readonly string[];
  /** The starts of visits that late events changed, as they are now, in order. */
  late(facts: SessionFacts): Promise<ReadonlyMap<string, readonly number[]>>;
}

export const SESSIONS: Visits = {
  name: 'last sessions',
  table: 'visitor_sessions',
  words: [],
  late: async (facts) => (await facts.late()).visits,
};

/** Returns the key of a visit: its visitor and the words. */
export const visitOf = (visitor: string, words: readonly string[]): string =>
  words.length === 0 ? visitor : visitor + JSON.stringify(words);

const ROW = z.tuple([z.string(), z.number()]).rest(z.string());

/** Returns the start of the last sealed visit for each of `visits` (epoch ms); -1 if there is none. */
export async function lastVisits(
  db: Database,
  facts: SessionFacts,
  kind: Visits,
  visits: readonly string[],
): Promise<(visit: string) => number> {
  const found = await facts.recallEach(queryOf(kind, facts.app), visits, async (unknown) => {
    const last = new Map(unknown.map((visit) => [visit, -1]));
    const visitors = [...new Set(unknown.map((visit) => visit.slice(0, NAME_LENGTH)))];
    for (let at = 0; at < visitors.length; at += MOST_LISTED) {
      const listed = visitors.slice(at, at + MOST_LISTED);
      const columns = kind.words.map((word) => `, ${word}`).join('');
      const sql = `SELECT ${NAME}, max(started_at)${columns} FROM ${kind.table}
WHERE ${facts.where} AND started_at < ${int(facts.until)} AND ${inUInt128('visitor', listed)} GROUP BY visitor${columns}`;
      const options = { searches: true, parallel: listed.length > FEW };
      const rows = await db.rows({ name: kind.name, sql, row: ROW }, options);
      for (const [visitor, started, ...words] of rows) last.set(visitOf(visitor, words), started);
    }
    return last;
  });
  const late = await kind.late(facts);
  return (visit) => {
    const changed = late.get(visit);
    return (changed === undefined ? found.get(visit) : changed.at(-1)) ?? -1;
  };
}

/** Whether looking visits up pays: an earlier question about this app needed them. */
export const areLookedUp = (facts: Facts, kind: Visits): boolean =>
  facts.isRepeated(queryOf(kind, facts.app));

const queryOf = ({ name }: Visits, app: AppId) => ({ name, sql: ofApp(app) });
