import type { Database } from '../clickhouse/database.ts';
import { byName } from '../domain/by-name.ts';
import { FACT_KINDS, type FactKind } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { type LateHours, lateEvents, MOST_LATE_HOURS, readLateHours } from './late-hours.ts';
import type { Published, PublishedFacts } from './published.ts';
import type { Numbers } from './rows.ts';
import { type SealedHours, sealedHours } from './sealed-hours.ts';

/** The late hours, as they were read. */
export interface LateRead {
  readonly late: LateHours;
  /** The numbers that `late` follows from, as one text: while they are the same, so is `late`. */
  readonly counted: { readonly [Kind in FactKind]: string };
  /** More events were late than the time before: the next time, late hours are read at once. */
  readonly grows: boolean;
  /** Null if they are not known. */
  readonly hours: SealedHours | null;
}

export const NO_LATE_READ: LateRead = {
  late: { page: [], session: [] },
  counted: { page: '', session: '' },
  grows: false,
  hours: null,
};

/**
 * Returns the late hours. They are read only if they may have changed and do not follow from the sealed hours. `early`:
 * late hours that were read beside the numbers, or null.
 */
export async function readLate(
  db: Database,
  app: AppId,
  published: PublishedFacts,
  { ledger, sealed, erasures, isErasing }: Numbers,
  last: LateRead,
  early: LateHours | null,
): Promise<LateRead> {
  const of = byName(FACT_KINDS, (kind) => `${stateOf(published[kind])} ${erasures}`);
  // Events are only added, except by erasures: equal sums of all hours mean equal hours.
  const counted = byName(FACT_KINDS, (kind) => `${of[kind]} ${ledger[kind]} ${sealed[kind]}`);
  const isLate = (kind: FactKind): boolean => ledger[kind] !== sealed[kind];
  const grows = FACT_KINDS.some((kind) => isLate(kind) && counted[kind] !== last.counted[kind]);
  const read = { counted, grows, hours: last.hours };
  if (isErasing) return { ...read, late: await readLateHours(db, app, published, true) };
  if (!grows) return { ...read, late: byName(FACT_KINDS, (kind) => (isLate(kind) ? last.late[kind] : [])) };
  /** Whether the hours hold all late events that the ledger counts. */
  const areAll = (hours: LateHours): boolean =>
    FACT_KINDS.every(
      (kind) =>
        hours[kind].length <= MOST_LATE_HOURS && lateEvents(hours[kind]) >= ledger[kind] - sealed[kind],
    );
  if (early !== null && areAll(early)) return { ...read, late: early };
  const hours = await sealedHours(db, app, published, `${of.page} ${of.session}`, last.hours);
  const known = hours?.hours && lateAmong(hours.hours);
  return { ...read, hours, late: known && areAll(known) ? known : await readLateHours(db, app, published) };
}

/** Changes with the facts. */
const stateOf = ({ step, horizon, dead }: Published): string => `${step} ${horizon} ${dead.length}`;

/** Returns the late ones, at most one more than MOST_LATE_HOURS of each kind. */
const lateAmong = (hours: LateHours): LateHours =>
  byName(FACT_KINDS, (kind) =>
    hours[kind].filter(({ committed, held }) => committed !== held).slice(0, MOST_LATE_HOURS + 1),
  );
