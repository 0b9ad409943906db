import { number, rowOf } from '../../clickhouse/row.ts';
import { sql } from '../../clickhouse/sql.ts';
import { sessionsOf } from '../../domain/commits.ts';
import { closed, type SessionFacts } from '../input/app-facts.ts';
import { inRanges, ofApp } from '../range/sql.ts';
import { MOST_OPEN, type Reader, type SlotCounts, type Slots, slotOf, slotOfStart } from './slot.ts';
import { readSessions } from './unsealed.ts';

/**
 * Reads the unsealed sessions by slot, for each of the readers. Slots that all of them know as they are now are not read
 * again. Null if there are too many sessions.
 */
export async function readSlots(facts: SessionFacts, readers: readonly Reader[]): Promise<Slots[] | null> {
  if (facts.until < facts.keptFrom) return null;
  const isFirst = readers.every(({ known }) => known === null);
  const changed = isFirst ? 'all' : (committedSlots(facts, readers) ?? (await countedSlots(facts, readers)));
  if (changed === null) return null;
  const read = changed.length === 0 ? [] : await readSessions(facts, readers, changed);
  if (read === null) return null;
  const { position } = facts;
  const all = readers.map(({ known }, i) => ({ slots: withRead(known?.slots, read[i]), position }));
  return all.every(isFew) ? all : null;
}

/** Puts slots that were read in the place of known ones. */
function withRead(known: Slots['slots'] = new Map(), read: Slots['slots'] = new Map()): Slots['slots'] {
  const all = new Map([...known, ...read]);
  return all.size === known.size ? all : new Map([...all].sort(([a], [b]) => a - b));
}

function isFew({ slots }: Slots): boolean {
  let count = 0;
  for (const { sessions } of slots.values()) count += sessions.length;
  return count <= MOST_OPEN;
}

/**
 * Finds the slots of the events that were committed since the readers read, with the number of events that were known
 * then; null if the commits are not known.
 */
function committedSlots({ db, app, until }: SessionFacts, readers: readonly Reader[]): SlotCounts | null {
  const found = new Map<number, number>();
  for (const { known } of readers) {
    const commits = db.own.commitsSince(app, known?.position ?? null);
    if (commits === null) return null;
    for (const { startedAt } of sessionsOf(commits)) {
      const slot = slotOf(db, startedAt);
      if (startedAt >= until) found.set(slot, known?.slots.get(slot)?.events ?? 0);
    }
  }
  return [...found].sort(([a], [b]) => a - b);
}

/** Finds the slots whose number of events is not the one that all readers know; null if there are too many sessions. */
async function countedSlots(facts: SessionFacts, readers: readonly Reader[]): Promise<SlotCounts | null> {
  const counts = await countSlots(facts);
  const isChanged = ([slot, events]: SlotCounts[number]): boolean =>
    readers.some(({ known }) => known?.slots.get(slot)?.events !== events);
  return counts?.filter(isChanged) ?? null;
}

const SLOT = rowOf([number, number, number]);

/** Counts the events of the unsealed sessions by slot; null if there are too many sessions. */
const countSlots = ({ db, app, until, version, live }: SessionFacts): Promise<SlotCounts | null> =>
  live.latest(`slots ${app}`, version, async () => {
    const rows = await db.rows({
      name: 'unsealed slots',
      sql: sql`SELECT ${slotOfStart(db)}, sum(s.events), count() FROM sessions AS s
WHERE ${ofApp(app)} AND ${inRanges(sql`s.started_at`, [closed({ from: until, to: null })])} GROUP BY 1 LIMIT ${MOST_OPEN + 1}`,
      row: SLOT,
    });
    return rows.reduce((sum, [, , own]) => sum + own, 0) > MOST_OPEN
      ? null
      : rows.map(([slot, events]) => [slot, events] as const).sort(([a], [b]) => a - b);
  });
