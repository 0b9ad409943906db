import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { StoreLocation } from '../src/clickhouse/connect.ts';
import { type Database, openDatabase, type StatementStats } from '../src/clickhouse/database.ts';
import { type Migration, migrate, readMigrations } from '../src/clickhouse/migrate.ts';
import { identifier, sql } from '../src/clickhouse/sql.ts';
import type { FactKind } from '../src/domain/fact-kinds.ts';
import { seal } from '../src/facts/pass.ts';
import { purgeSessions } from '../src/facts/purge.ts';
import type { Stretch } from '../src/facts/stretch.ts';
import { makeFolder } from '../src/make-folder.ts';
import { removeFolder } from '../src/remove-folder.ts';
import { ALL_SESSIONS, generate } from './generate.ts';
import { watchingMemory } from './memory.ts';
import type { Recording } from './recording.ts';
import { writeFile } from './result/file.ts';
import { NOW, type Shape } from './shape.ts';

const SealingSchema = z.object({ events: z.number(), ms: z.number(), stretches: z.number() });
const ManifestSchema = z.object({
  /** Hashes of the code behind the events and their views, and behind the facts. */
  eventsFrom: z.string(),
  factsFrom: z.string(),
  generating: z.object({ ms: z.number(), peakBytes: z.number() }),
  sealing: z.object({ page: SealingSchema, session: SealingSchema, peakBytes: z.number() }),
});

/** How a data set was built. `peakBytes` is the whole process's resident memory. */
export type Manifest = z.infer<typeof ManifestSchema>;

export interface BenchStore {
  readonly db: Database;
  readonly location: Extract<StoreLocation, { readonly kind: 'embedded' }>;
  readonly manifest: Manifest;
}

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Compiled, all benches are bundled together, and the facts lie beside them. */
const COMPILED = import.meta.url.endsWith('.js');
const FACTS = join(HERE, COMPILED ? '../facts' : '../src/facts');
const GENERATOR = COMPILED ? readdirSync(HERE) : ['generate.ts', 'shape.ts', 'vocabulary.ts'];

/** The code that determines the facts. */
const MADE_BY = [
  'hour-counts',
  'purge',
  'repair',
  'seal',
  'seal-hours',
  'seal-states',
  'sql/compute',
  'sql/cuts',
  'sql/place',
  'sql/roll-ups',
  'sql/session-columns',
  'sql/session-rows',
  'sql/session-states',
  'sql/tables',
];

/** The first one has the raw tables. */
const MIGRATIONS = readMigrations();
/** Columns that later ones add to the events are stored when the events are. */
const OF_EVENTS = MIGRATIONS.filter(({ statements }) =>
  statements.some((statement) => statement.startsWith('ALTER TABLE events ')),
);

const checksum = (...texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\0')).digest('hex');
const contents = (...files: readonly string[]): string[] => files.map((file) => readFileSync(file, 'utf8'));

/**
 * Opens the data set of `shape` under `dir`. Builds it first if it is missing or out of date: all of it if
 * the raw tables or the generator changed, otherwise only the facts.
 */
export async function openBenchStore(
  reporter: Pick<Recording, 'progress' | 'signal'>,
  dir: string,
  shape: Shape,
  onStatement: (stats: StatementStats) => void,
): Promise<BenchStore> {
  const folder = join(dir, `${shape.events}-events-${shape.days}-days`);
  const [raw, ...facts] = MIGRATIONS;
  const eventsFrom = checksum(
    raw?.checksum ?? '',
    ...OF_EVENTS.map((migration) => migration.checksum),
    ...contents(...GENERATOR.map((file) => join(HERE, file))),
  );
  const factsFrom = checksum(
    ...facts.map((migration) => migration.checksum),
    ...contents(...MADE_BY.map((file) => join(FACTS, `${file}${COMPILED ? '.js' : '.ts'}`))),
  );
  const file = join(folder, 'manifest.json');
  let manifest = existsSync(file) ? ManifestSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : null;
  if (manifest?.eventsFrom !== eventsFrom) {
    removeFolder(folder);
    makeFolder(folder);
    manifest = null;
  }
  const location = { kind: 'embedded', dataDir: folder, database: 'analytics' } as const;
  const db = await openDatabase(location, { onStatement });
  try {
    if (manifest?.factsFrom !== factsFrom) {
      const generating = manifest?.generating ?? (await generated(reporter, db, shape));
      if (manifest !== null) {
        await forgetAllBut(db, raw);
        await restoreSessions(db);
      }
      await migrate(db, MIGRATIONS);
      const sealing = await sealed(reporter, db);
      manifest = { eventsFrom, factsFrom, generating, sealing };
      writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
    }
    await mergesDone(db);
    return { db, location, manifest };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function generated(
  { progress, signal }: Pick<Recording, 'progress' | 'signal'>,
  db: Database,
  shape: Shape,
): Promise<Manifest['generating']> {
  await migrate(db, MIGRATIONS);
  const started = performance.now();
  progress.begin('generating', shape.days);
  const { peakBytes } = await watchingMemory(() =>
    generate(db, shape, (done) => {
      signal.throwIfAborted();
      if (done < shape.days) progress.step('a day');
    }),
  );
  return { ms: performance.now() - started, peakBytes };
}

/** Restores all deleted sessions, so that facts are built as for new data. */
async function restoreSessions(db: Database): Promise<void> {
  for (const table of ['kept_sessions', 'sessions'])
    await db.command('restore', sql`TRUNCATE TABLE ${identifier(table)}`);
  await db.command(
    'restore',
    sql`INSERT INTO sessions SELECT * FROM ${identifier(ALL_SESSIONS[0])} SETTINGS max_partitions_per_insert_block = 0`,
    {},
    { lane: 'seal' },
  );
}

/** Tables that do not come from the migration of the raw tables. */
const KEPT: readonly string[] = [...ALL_SESSIONS, 'schema_migrations'];

/** Drops the tables of the later migrations, so that these can be applied again to the existing events. */
async function forgetAllBut(db: Database, raw: Migration | undefined): Promise<void> {
  const { tables } = await db.queryOne({
    name: 'tables',
    sql: sql`SELECT groupArray(name) AS tables FROM system.tables WHERE database = currentDatabase()`,
    row: z.object({ tables: z.array(z.string()) }),
  });
  const kept = raw?.statements.join('\n') ?? '';
  for (const table of tables) {
    if (KEPT.includes(table) || kept.includes(` EXISTS ${table}\n`) || kept.includes(` EXISTS ${table} `))
      continue;
    await db.command('drop', sql`DROP TABLE IF EXISTS ${identifier(table)} SYNC`);
  }
  await db.command('forget migrations', sql`DELETE FROM schema_migrations WHERE version > {raw:UInt32}`, {
    raw: raw?.version ?? 0,
  });
}

async function sealed(
  { progress, signal }: Pick<Recording, 'progress' | 'signal'>,
  db: Database,
): Promise<Manifest['sealing']> {
  const started = performance.now();
  const totals: Record<FactKind, z.infer<typeof SealingSchema>> = {
    page: { events: 0, ms: 0, stretches: 0 },
    session: { events: 0, ms: 0, stretches: 0 },
  };
  const onStretch = ({ kind, events, ms, to }: Stretch): void => {
    const total = totals[kind];
    totals[kind] = { events: total.events + events, ms: total.ms + ms, stretches: total.stretches + 1 };
    const seconds = Math.round((performance.now() - started) / 1000);
    signal.throwIfAborted();
    progress.say(
      `sealing: ${kind}s until ${new Date(to).toISOString()}, ${totals[kind].events} events, ${seconds} s`,
    );
  };
  const deps = { db, onStretch };
  const { peakBytes } = await watchingMemory(() => seal(deps, NOW));
  await purgeSessions(deps, NOW);
  return { ...totals, peakBytes };
}

/** Waits for running merges: they would distort the sizes and the times. */
async function mergesDone(db: Database): Promise<void> {
  const running = async () =>
    db.queryOne({
      name: 'merges',
      sql: sql`SELECT count() AS merges FROM system.merges`,
      row: z.object({ merges: z.number() }),
    });
  for (let quiet = 0; quiet < 10; ) {
    quiet = (await running()).merges === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
