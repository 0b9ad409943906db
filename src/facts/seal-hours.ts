import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import { identifier, join, type Sql, sql } from '../clickhouse/sql.ts';
import { floorTo, HOUR_MS, isWithin } from '../domain/time.ts';
import { differences, eventsIn, sealedHours } from './hour-counts.ts';
import { appsOf } from './run-groups.ts';
import type { Run } from './runs.ts';
import { areKept, deadRuns, MAX_SECONDS } from './seal-states.ts';
import { compute } from './sql/compute.ts';
import { CUTS } from './sql/cuts.ts';
import { ROLL_UPS } from './sql/roll-ups.ts';
import { bucketsOf } from './sql/tables.ts';
import type { SealDeps, Work } from './stretch.ts';

const MAX_MEMORY = 4 * 1024 ** 3;
/** So few new hours with so few events make no question faster. */
const FEW_MS = 3 * HOUR_MS;
const FEW_EVENTS = 100_000;

/**
 * Clears, computes, rolls up, compares and publishes. Resolves to the apps whose new watermark is lower than
 * planned.
 */
export async function sealHours({ db, signal }: SealDeps, run: Run, work: Work): Promise<string[]> {
  const { kind, states, from, to, spans, ledger, isNew } = work;
  const apps = appsOf(states);
  const dead = await deadRuns(db, kind, apps);
  const execute = async (name: string, statement: Sql, params: Readonly<Record<string, number>> = {}) => {
    signal?.throwIfAborted();
    await db.command(
      `seal ${kind} ${name}`,
      sql`${statement}\nSETTINGS insert_deduplicate = 0, max_execution_time = ${MAX_SECONDS}, max_memory_usage = ${MAX_MEMORY}, max_bytes_before_external_group_by = ${MAX_MEMORY / 4}, max_bytes_before_external_sort = ${MAX_MEMORY / 4}`,
      { apps, dead, run: run.number, ...params },
      { lane: 'seal' },
    );
  };
  await clear(db, run, work);
  run.begin();
  for (const { start, end } of spans) {
    const isKept = kind === 'page' || (await areKept(db, apps, start));
    await execute('facts', compute(kind, isKept), { from: start, to: end });
  }
  for (const { name, unitMs, statementOf } of ROLL_UPS[kind]) {
    const whole = bucketsOf(spans, unitMs)
      .map(({ start, end }) => ({ start, end: Math.min(end, floorTo(to, unitMs)) }))
      .filter(({ start, end }) => start < end);
    if (whole.length > 0) await execute(name, statementOf(whole));
  }
  const sealed = await sealedHours(db, { kind, apps, from, to }, dead);
  const ends = states.map((state) => {
    const [stopped = to] = differences(state.app, ledger, sealed).filter((hour) => isWithin(spans, hour));
    return { state, stopped, until: Math.min(stopped, state.last) };
  });
  const further = ends.filter(({ until }) => until > from);
  if (further.length > 0) {
    const steps = further.map(({ state, until }) => ({ ...state, step: state.step + 1, until }));
    // The rows to which an earlier snapshot refers are still there, so it stays exact. Reading the snapshots of all
    // polled apps at once would stop the service for seconds, at each full hour.
    const areFew = isNew && to - from <= FEW_MS && eventsIn(ledger, spans) <= FEW_EVENTS;
    await run.publish(steps, areFew ? [] : apps);
  }
  return ends.filter(({ stopped }) => stopped < to).map(({ state }) => state.app);
}

/**
 * Deletes older rows of the hours: facts that late events made wrong, and rows of runs that did not publish;
 * usually there are none. The deletion names only runs that wrote before this one. Their rows of these hours
 * are never read again, so it may be carried out at any later time.
 */
export async function clear(
  db: Database,
  run: Run,
  { kind, states, cleared }: Pick<Work, 'kind' | 'states' | 'cleared'>,
): Promise<void> {
  const apps = appsOf(states);
  const cuts = CUTS[kind].map(({ table, within }) => ({ table, rows: within(cleared) }));
  const found = await db.query(
    {
      name: `seal ${kind} leftovers`,
      sql: join(
        cuts.map(
          ({ table, rows }, cut) =>
            sql`SELECT ${cut} AS cut, groupUniqArray(run) AS runs FROM ${identifier(table)} WHERE app_id IN {apps:Array(UUID)} AND ${rows} GROUP BY cut`,
        ),
        sql`\nUNION ALL\n`,
      ),
      row: z.object({ cut: z.number(), runs: z.array(z.number()) }),
    },
    { apps },
    { lane: 'seal', maxSeconds: MAX_SECONDS },
  );
  if (found.length === 0) return;
  // Only runs from before this moment are found: a later run declares this one dead before it writes.
  await run.assertAlive();
  for (const [index, { table, rows }] of cuts.entries()) {
    const runs = found.find(({ cut }) => cut === index)?.runs;
    if (runs === undefined) continue;
    await db.command(
      `seal ${kind} take away`,
      sql`DELETE FROM ${db.shards.stored(table)} WHERE app_id IN {apps:Array(UUID)} AND run IN {runs:Array(UInt64)} AND ${rows}`,
      { apps, runs },
      { lane: 'seal' },
    );
  }
}
