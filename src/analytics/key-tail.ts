import { z } from 'zod';
import { identifier, join, sql } from '../clickhouse/sql.ts';
import type { PageFacts } from './ask.ts';
import {
  EVERYTHING,
  KEY_SUMS,
  type KeyGroup,
  type KeySums,
  kindOf,
  PAGES,
  TIMES,
  tailRows,
} from './key-rows.ts';
import { type Met, readMet } from './met-before.ts';
import { isWide, type Plan } from './plan.ts';

/** What raw events say of a tail. */
interface Tail {
  readonly sums: readonly KeySums[];
  readonly met: readonly Met[];
}

const NO_TAIL: Tail = { sums: [], met: [] };

/** Each group contains those before it. */
const WIDER = [TIMES, PAGES, EVERYTHING];

/** What was asked about an app's tail last. */
interface Asked {
  readonly version: number;
  readonly range: string;
  /** The places in `WIDER` of the widest group that was asked for, and of the one that was read. */
  readonly asked: number;
  readonly read: number;
}

/**
 * Reads the plan's tail. Questions about the same tail and version share one reading. It is of all groups that were
 * asked for at the version before, because several questions about an app are usually polled.
 */
export async function readTail(facts: PageFacts, pieces: Plan, group: KeyGroup): Promise<Tail> {
  const { tail } = pieces;
  if (tail === null) return NO_TAIL;
  const { live, app, version } = facts;
  const range = `${tail.from} ${tail.to}`;
  const last = live.get<Asked>(`asked of tail ${app}`);
  const before = last?.range === range ? last : undefined;
  const own = WIDER.indexOf(group);
  const { asked, read } =
    before?.version === version
      ? { asked: Math.max(before.asked, own), read: Math.max(before.read, own) }
      : { asked: own, read: Math.max(before?.asked ?? own, own) };
  live.set(`asked of tail ${app}`, { version, range, asked, read } satisfies Asked, 0);
  const wide = WIDER[read] ?? group;
  const { sums, met } = await live.latest(
    `tail ${app}`,
    `${version} ${range} ${read}`,
    async () => {
      const [rows, pairs] = await Promise.all([readSums(facts, pieces, wide), readMet(facts, tail, wide)]);
      return { sums: rows, met: pairs };
    },
    (found) => 5 * found.sums.length + 2 * found.met.length,
  );
  const isOf = ({ pair }: { readonly pair: string }): boolean => group.kinds.includes(kindOf(pair));
  const isPaired = group.paired !== null;
  return {
    sums: wide === group ? sums : sums.filter(isOf),
    met: isPaired ? met.filter(isOf) : [],
  };
}

const SUMS = z.tuple([z.string(), z.number(), z.number(), z.number(), z.number()]);

async function readSums({ db, app }: PageFacts, pieces: Plan, group: KeyGroup): Promise<KeySums[]> {
  const rows = tailRows(app, pieces, group);
  if (rows === null) return [];
  const found = await db.rows(
    {
      name: 'key tail',
      sql: sql`SELECT concat(toString(kind), ' ', toString(key)), ${join(KEY_SUMS.map((sum) => sql`r.${identifier(sum)}`))}
FROM (${rows}) AS r`,
      row: SUMS,
    },
    { parallel: isWide(pieces) },
  );
  return found.map(([pair, events, sessions, engagedMs, engagements]) => ({
    pair,
    events,
    sessions,
    engagedMs,
    engagements,
  }));
}
