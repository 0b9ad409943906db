import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type EpochMs, epochMs, floorTo } from '../domain/time.ts';
import { compute } from './compute.ts';
import type { Readers } from './readers.ts';
import {
  type AppState,
  areKept,
  FACT_KINDS,
  LEDGER_KIND,
  MAX_SECONDS,
  readStates,
  startOf,
} from './seal-states.ts';
import { COARSE_UNITS, CUTS, ROLL_UPS } from './tables.ts';
import type { FactKind } from './watermarks.ts';

/** One statement computes at most about this many events, and at most three days that hold any. */
const MAX_EVENTS = 4_000_000;
const MAX_HOURS = 72;
const MAX_APPS = 500;
const MAX_MEMORY = 4 * 1024 ** 3;

export interface SealDeps {
  readonly db: Database;
  readonly readers: Readers;
  /** Seal these alone; all apps where absent. */
  readonly only?: readonly string[];
  /** Ends a run after the stretch at hand. */
  readonly signal?: AbortSignal;
  /** Told after each stretch: how far, how many apps and events. */
  readonly onStretch?: (stretch: Stretch) => void;
}

export interface Stretch {
  readonly kind: FactKind;
  readonly apps: number;
  readonly events: number;
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly ms: number;
}

const SEALED: Query<{ app: string; kind: FactKind }> = {
  name: 'sealed apps',
  sql: `SELECT DISTINCT toString(app_id) AS app, toString(kind) AS kind FROM sealed_apps
WHERE empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)}`,
  row: z.object({ app: z.string(), kind: z.enum(['page', 'session']) }),
};

const HOURS: Query<{ ms: number; events: number }> = {
  name: 'seal hours',
  sql: `SELECT toUnixTimestamp(hour) * 1000 AS ms, sum(l.events) AS events FROM ledger AS l
WHERE app_id IN {apps:Array(UUID)} AND kind = {ledgerKind:String} AND ms >= {from:Int64} AND ms < {to:Int64}
GROUP BY ms ORDER BY ms`,
  row: z.object({ ms: z.number(), events: z.number() }),
};

/** Hours of a stretch whose facts differ from the ledger: something came in meanwhile, or is still on its way. */
const UNEQUAL: Query<{ app: string; hour: number }> = {
  name: 'seal verify',
  sql: `SELECT toString(app_id) AS app, min(ms) AS hour FROM
(
    SELECT app_id, ms FROM
    (
        SELECT app_id, toUnixTimestamp(hour) * 1000 AS ms, toInt64(events) AS difference
        FROM ledger WHERE app_id IN {apps:Array(UUID)} AND kind = {ledgerKind:String}
        UNION ALL
        SELECT app_id, toUnixTimestamp(hour) * 1000, -toInt64(events)
        FROM sealed_hours WHERE app_id IN {apps:Array(UUID)} AND kind = {kind:String}
    )
    WHERE ms >= {from:Int64} AND ms < {to:Int64}
    GROUP BY app_id, ms HAVING sum(difference) != 0
)
GROUP BY app_id`,
  row: z.object({ app: z.string(), hour: z.number() }),
};

/**
 * Seals everything that is ripe at `now`, stretch by stretch, and resolves when nothing is left. Can be killed at any
 * moment: what was not published is not read, and is taken away by the next run. One at a time per store.
 */
export async function seal(deps: SealDeps, now: EpochMs): Promise<void> {
  for (const kind of FACT_KINDS) await sealKind(deps, kind, now);
}

/** Forgets every fact of `only` (all apps where absent): raw rows answer until the next run has built them again. */
export async function unseal(deps: SealDeps): Promise<number> {
  const known = await deps.db.query(SEALED, { only: deps.only ?? [] }, { lane: 'seal' });
  for (const kind of FACT_KINDS) {
    const rows = known.filter((row) => row.kind === kind);
    await publish(
      deps.db,
      kind,
      rows.map(({ app }) => ({ app, until: 0 })),
    );
  }
  await deps.readers.quiesce();
  return new Set(known.map(({ app }) => app)).size;
}

async function sealKind(deps: SealDeps, kind: FactKind, now: EpochMs): Promise<void> {
  const { db } = deps;
  const stuck = new Set<string>();
  while (deps.signal?.aborted !== true) {
    const states = await readStates(deps, kind, now, false);
    const open = states.filter(({ app }) => !stuck.has(app));
    const stale = open.filter((state) => state.stale !== null);
    if (stale.length > 0 && !(await withdraw(deps, kind, stale))) return;
    const group = nextGroup(open);
    if (group === null) return;
    const { apps, from, target } = group;
    const to = await stretchEnd(db, kind, apps, from, target);
    for (const app of await sealStretch(deps, kind, apps, from, to)) stuck.add(app);
  }
}

/** Publishes the earlier watermark, and waits until nobody reads by the old one; false where the run ends before. */
async function withdraw(
  { db, readers, signal }: SealDeps,
  kind: FactKind,
  stale: readonly AppState[],
): Promise<boolean> {
  await publish(
    db,
    kind,
    stale.map(({ app, stale: hour }) => ({ app, until: hour ?? 0 })),
  );
  return readers.quiesce(signal);
}

interface Group {
  readonly apps: readonly string[];
  readonly from: EpochMs;
  readonly target: EpochMs;
}

/** The apps that stand furthest back, all at the same hour, and until where all of them are ripe. */
function nextGroup(states: readonly AppState[]): Group | null {
  const ripe = states.filter((state) => startOf(state) < state.ripe);
  if (ripe.length === 0) return null;
  const from = ripe.reduce((least, state) => Math.min(least, startOf(state)), Number.MAX_SAFE_INTEGER);
  const group = ripe.filter((state) => startOf(state) === from).slice(0, MAX_APPS);
  return {
    apps: group.map(({ app }) => app),
    from: epochMs(from),
    target: epochMs(Math.min(...group.map((state) => state.ripe))),
  };
}

async function stretchEnd(
  db: Database,
  kind: FactKind,
  apps: readonly string[],
  from: EpochMs,
  target: EpochMs,
): Promise<EpochMs> {
  const hours = await db.query(
    HOURS,
    { apps, ledgerKind: LEDGER_KIND[kind], from, to: target },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
  let events = 0;
  for (const [index, hour] of hours.entries()) {
    events += hour.events;
    if (index > 0 && (events > MAX_EVENTS || index >= MAX_HOURS)) return epochMs(hour.ms);
  }
  return target;
}

/** Returns the apps that could not be sealed to the end of the stretch. */
async function sealStretch(
  deps: SealDeps,
  kind: FactKind,
  apps: readonly string[],
  from: EpochMs,
  to: EpochMs,
): Promise<string[]> {
  const { db } = deps;
  const started = performance.now();
  await takeAway(db, kind, apps, from);
  const run = (name: string, sql: string, start: number, end: number) =>
    db.command(
      `seal ${kind} ${name}`,
      `${sql}\nSETTINGS insert_deduplicate = 0, max_execution_time = ${MAX_SECONDS}, max_memory_usage = ${MAX_MEMORY}, max_bytes_before_external_group_by = ${MAX_MEMORY / 4}, max_bytes_before_external_sort = ${MAX_MEMORY / 4}`,
      { apps, from: start, to: end },
      { lane: 'seal' },
    );
  const isKept = kind === 'page' || (await areKept(db, apps, from));
  await run('facts', compute(kind, isKept), from, to);
  for (const { name, unitMs, sql } of ROLL_UPS[kind]) {
    const [first, last] = [floorTo(from, unitMs), floorTo(to, unitMs)];
    if (first < last) await run(name, sql, first, last);
  }
  const unequal = await db.query(
    UNEQUAL,
    { apps, kind, ledgerKind: LEDGER_KIND[kind], from, to },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
  const stopped = new Map(unequal.map(({ app, hour }) => [app, hour]));
  await publish(
    db,
    kind,
    apps.map((app) => ({ app, until: stopped.get(app) ?? to })),
  );
  const hours = await db.query(
    HOURS,
    { apps, ledgerKind: LEDGER_KIND[kind], from, to },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
  const events = hours.reduce((sum, hour) => sum + hour.events, 0);
  deps.onStretch?.({ kind, apps: apps.length, events, from, to, ms: performance.now() - started });
  return [...stopped.keys()];
}

/** Leftovers of a run that was killed, and facts that late events made stale: usually none, and then nothing is written. */
async function takeAway(db: Database, kind: FactKind, apps: readonly string[], from: EpochMs): Promise<void> {
  const starts = COARSE_UNITS.map(([grain, unitMs]) => [grain, floorTo(from, unitMs)] as const);
  const params = { apps, hour: from, ...Object.fromEntries(starts) };
  const found = await db.query(
    {
      name: `seal ${kind} leftovers`,
      sql: CUTS[kind]
        .map(
          ({ table, stale }, index) =>
            `SELECT ${index} AS cut FROM ${table} WHERE app_id IN {apps:Array(UUID)} AND ${stale} GROUP BY cut`,
        )
        .join('\nUNION ALL\n'),
      row: z.object({ cut: z.number() }),
    },
    params,
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
  for (const { cut } of found) {
    const target = CUTS[kind][cut];
    if (target === undefined) continue;
    await db.command(
      `seal ${kind} take away`,
      `DELETE FROM ${target.table} WHERE app_id IN {apps:Array(UUID)} AND ${target.stale}`,
      params,
      { lane: 'seal' },
    );
  }
}

async function publish(
  db: Database,
  kind: FactKind,
  watermarks: readonly { readonly app: string; readonly until: number }[],
): Promise<void> {
  const rows = watermarks.map(({ app, until }) => ({ app_id: app, kind, sealed_until: until }));
  await db.insert('sealed_apps', rows, { lane: 'seal', about: watermarks.map(({ app }) => app) });
}
