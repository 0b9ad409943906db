import type { Database } from '../clickhouse/database.ts';
import { byName } from '../domain/by-name.ts';
import { FACT_KINDS, type FactKind } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import type { LateHours } from './late-hour.ts';
import { readLateHours } from './late-hours.ts';
import type { Published, PublishedFacts } from './published.ts';
import type { Numbers } from './rows.ts';

/** The late hours, as they were read. */
export interface LateRead {
  readonly late: LateHours;
  /** The numbers that `late` follows from, as one text: while they are the same, so is `late`. */
  readonly counted: { readonly [Kind in FactKind]: string };
}

export const NO_LATE_READ: LateRead = {
  late: { page: [], session: [] },
  counted: { page: '', session: '' },
};

/** Returns the late hours. They are read only if they may have changed. */
export async function readLate(
  db: Database,
  app: AppId,
  published: PublishedFacts,
  { ledger, sealed, erasures, isErasing }: Numbers,
  last: LateRead,
): Promise<LateRead> {
  // Events are only added, except by erasures: equal sums of all hours mean equal hours.
  const counted = byName(
    FACT_KINDS,
    (kind) => `${stateOf(published[kind])} ${erasures} ${ledger[kind]} ${sealed[kind]}`,
  );
  if (isErasing) return { counted, late: await readLateHours(db, app, published, true) };
  const isLate = (kind: FactKind): boolean => ledger[kind] !== sealed[kind];
  const isKnown = FACT_KINDS.every((kind) => !isLate(kind) || counted[kind] === last.counted[kind]);
  if (!isKnown) return { counted, late: await readLateHours(db, app, published) };
  return { counted, late: byName(FACT_KINDS, (kind) => (isLate(kind) ? last.late[kind] : [])) };
}

/** Changes with the facts. */
const stateOf = ({ step, horizon, dead }: Published): string => `${step} ${horizon} ${dead.length}`;
