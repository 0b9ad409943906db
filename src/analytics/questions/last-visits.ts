import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Facts, SessionFacts } from '../ask.ts';
import { int, inUInt128, ofApp } from '../sql.ts';

/*
 * Who of the unsealed tail came before is asked in every question that ends now, about mostly the same visitors. Their last sealed
 * sessions stay the same until more is sealed, whatever the range: they are looked up once, by the visitor, and remembered.
 */

/** Visitors by name: the base64 of their 16 bytes. */
const NAME_LENGTH = 24;
/** A tail of more visitors is not named one by one. */
const MOST_NAMED = 20_000;
/** In one statement: the engine takes 256 KiB of text. */
const MOST_LISTED = 12_000;
/** So many are a look-up of a few granules; for more all cores read. */
const FEW = 200;

/** A `visitor`'s (UInt128) name. */
export const NAME = 'base64Encode(reinterpretAsFixedString(visitor))';
/** Of rows with visitors: the names of the distinct ones. */
export const NAMED_VISITORS = `groupUniqArray(${MOST_NAMED + 1})(${NAME})`;
export const NAMES = z.array(z.string());

/** Whether these names are not all that there are. */
export const areTooMany = (names: z.infer<typeof NAMES>): boolean => names.length > MOST_NAMED;

/** What visitors are known to have done: had a session, or one that came with the same words in some columns. */
interface Visits {
  readonly name: string;
  readonly table: string;
  readonly words: readonly string[];
  /** Of those that late events changed: the starts as they are now, in order. */
  late(facts: SessionFacts): Promise<ReadonlyMap<string, readonly number[]>>;
}

export const SESSIONS: Visits = {
  name: 'last sessions',
  table: 'visitor_sessions',
  words: [],
  late: async (facts) => (await facts.late()).visits,
};

/** What a visit is known by: its visitor, and the words. */
export const visitOf = (visitor: string, words: readonly string[]): string =>
  words.length === 0 ? visitor : visitor + JSON.stringify(words);

const ROW = z.tuple([z.string(), z.number()]).rest(z.string());

/** When the last sealed visit like each of `visits` started (epoch ms); -1 where there is none. */
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

/** Whether it pays to look visits up: somebody asked about this app's before. */
export const areLookedUp = (facts: Facts, kind: Visits): boolean =>
  facts.isRepeated(queryOf(kind, facts.app));

const queryOf = ({ name }: Visits, app: AppId) => ({ name, sql: ofApp(app) });
