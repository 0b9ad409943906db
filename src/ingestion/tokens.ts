import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { identifier, sql } from '../clickhouse/sql.ts';

/** The tables that a flush is written to, and those that its events reach by views. */
const TABLES = ['ingest_journal', 'events', 'sessions', 'traffic', 'ledger', 'ingest_batches'] as const;

/** The numbers of tokens that the engine remembers of each table. */
export interface Windows {
  /** A statement is repeated within seconds, and after a crash before any other is sent. */
  readonly usual: number;
  /** While a statement may be repeated hours later. */
  readonly longest: number;
}

const WINDOWS: Windows = { usual: 5_000, longest: 10_000_000 };

const OTHERS: Query<{ table: string }> = {
  name: 'ingestion: tables with another window',
  sql: sql`SELECT name AS table FROM system.tables WHERE database = currentDatabase() AND name IN {tables:Array(String)}
    AND toUInt64OrZero(extract(engine_full, 'non_replicated_deduplication_window = (\\\\d+)')) != {tokens:UInt64}
ORDER BY name`,
  row: z.object({ table: z.string() }),
};

/** An erasure has begun and not ended: the row that names its visitor is deleted at its end. */
const ERASURES: Query<{ open: number }> = {
  name: 'ingestion: open erasures',
  sql: sql`SELECT toUInt32(countIf(visitor_id != '')) AS open FROM erasures`,
  row: z.object({ open: z.number() }),
};

/**
 * Limits the memory that the embedded engine takes for tokens: some 700 bytes for each one, in each table. It
 * forgets none while a flush or an unfinished erasure may repeat its inserts.
 */
export class TokenMemory {
  readonly #db: Database;
  readonly #windows: Windows;
  #current: number | null = null;

  constructor(db: Database, windows: Windows = WINDOWS) {
    this.#db = db;
    this.#windows = windows;
  }

  /** Call it at the start, and then every half minute: fewer than `usual` inserts fit into that time. */
  async keepUp(areFlushesRepeated: boolean): Promise<void> {
    const isRepeating =
      areFlushesRepeated || (await this.#db.queryOne(ERASURES, {}, { lane: 'write' })).open > 0;
    const tokens = isRepeating ? this.#windows.longest : this.#windows.usual;
    if (tokens === this.#current) return;
    const others = await this.#db.query(OTHERS, { tables: TABLES, tokens }, { lane: 'write' });
    for (const { table } of others) {
      const change = sql`MODIFY SETTING non_replicated_deduplication_window = ${tokens}`;
      await this.#db.command('ingestion: tokens', sql`ALTER TABLE ${identifier(table)} ${change}`);
    }
    this.#current = tokens;
  }
}
