import { statfs } from 'node:fs/promises';
import { z } from 'zod';
import type { LastBackups } from '../backup/backups.ts';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { every, type Job, type Repeated } from '../domain/every.ts';
import { FACT_KINDS } from '../domain/fact-kinds.ts';
import type { SealState } from '../facts/seal-states.ts';

/** The space of a file system, in bytes. */
export interface DiskSpace {
  readonly disk: string;
  /** The part that a process without privileges can use. */
  readonly free: number;
  readonly size: number;
}

/** Memory of the embedded engine by state, in bytes. */
export type EngineMemory = readonly (readonly [state: 'allocated' | 'resident', bytes: number])[];

/** The state of the store and of disks when it was measured last. Empty before. */
export interface Measured {
  /** Empty with a server, and if the engine does not tell. */
  readonly engineMemory: EngineMemory;
  readonly disks: readonly DiskSpace[];
  /** Events that arrived after their hour was sealed and wait for a repair, over all apps, by kind of facts. */
  readonly lateEvents: readonly (readonly [kind: string, events: number])[];
  readonly backups: LastBackups;
}

export interface MeasuringDeps extends Pick<Job, 'ms' | 'log'> {
  readonly db: Pick<Database, 'engine' | 'query'>;
  readonly dataDir: string;
  readonly sealStates: () => Promise<readonly SealState[]>;
  readonly lastBackups: () => Promise<LastBackups>;
}

/** The job that measures. A scrape reads its last values, so it does not wait for the store. */
export interface Measuring extends Pick<Repeated, 'start' | 'end'> {
  readonly measured: Measured;
}

/** Disks in object storage have no size, and report the largest number. */
const SERVER_DISKS: Query<DiskSpace> = {
  name: 'space of disks',
  sql: sql`SELECT concat('clickhouse:', name) AS disk, free_space AS free, total_space AS size
FROM system.disks WHERE total_space < toUInt64(9e18) ORDER BY name LIMIT 20`,
  row: z.object({ disk: z.string(), free: z.number(), size: z.number() }),
};

/** The totals of the engine's allocator, in a text that is made for people. */
const ENGINE_MEMORY: Query<{ allocated: number; resident: number }> = {
  name: 'memory of the engine',
  sql: sql`SELECT toUInt64OrZero(extract(stats, '\\nAllocated: (\\d+)')) AS allocated,
    toUInt64OrZero(extract(stats, '\\nAllocated: .* resident: (\\d+)')) AS resident
FROM system.jemalloc_stats`,
  row: z.object({ allocated: z.number(), resident: z.number() }),
};

export function createMeasuring({ db, dataDir, sealStates, lastBackups, ms, log }: MeasuringDeps): Measuring {
  let measured: Measured = {
    engineMemory: [],
    disks: [],
    lateEvents: [],
    backups: { made: null, failed: null },
  };
  // If the store does not answer, its last values stay: a full disk may be the reason.
  const job = every({ name: 'measure disks, late events and backups', ms, log }, async () => {
    const own = await spaceOf(dataDir);
    measured = { ...measured, disks: [own, ...measured.disks.slice(1)] };
    // The disk of the embedded store is that of its folder.
    if (db.engine === 'embedded') {
      measured = { ...measured, engineMemory: await engineMemoryOf(db) };
    } else {
      measured = { ...measured, disks: [own, ...(await db.query(SERVER_DISKS, {}, { lane: 'lookup' }))] };
    }
    measured = { ...measured, lateEvents: lateByKind(await sealStates()) };
    measured = { ...measured, backups: await lastBackups() };
  });
  return {
    get measured() {
      return measured;
    },
    start: job.start,
    end: job.end,
  };
}

async function spaceOf(folder: string): Promise<DiskSpace> {
  const { bsize, bavail, blocks } = await statfs(folder);
  return { disk: 'data_dir', free: bavail * bsize, size: blocks * bsize };
}

/** An engine that was built with another allocator does not tell. */
async function engineMemoryOf(db: MeasuringDeps['db']): Promise<EngineMemory> {
  const rows = await db.query(ENGINE_MEMORY, {}, { lane: 'lookup' }).catch(() => []);
  return rows.flatMap(({ allocated, resident }) => [
    ['allocated', allocated],
    ['resident', resident],
  ]);
}

const lateByKind = (states: readonly SealState[]): Measured['lateEvents'] =>
  FACT_KINDS.map((kind) => [
    kind,
    states.filter((state) => state.kind === kind).reduce((sum, { late }) => sum + late, 0),
  ]);
