import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Sql, sql } from '../../src/clickhouse/sql.ts';
import { onEachBackend } from '../support/backends.ts';
import { ingestionOn, newApp, sentUntilTaken, session, stored, totalsOf } from './ingestion-support.ts';

/*
 * The engine's error for a refused row cites the row. Its words are no reason to take it for an error of the machine, which
 * would be waited out: for ever, and by all.
 */

const WORDS = [
  'Too many open files',
  'errno: 24, strerror: Too many open files',
  'errno: 28, strerror: No space left on device',
  'filesystem error: No space left on device',
  'Not enough space (NOT_ENOUGH_SPACE)',
  'Cannot allocate memory, ENOMEM',
  'Code: 241. DB::Exception: Memory limit exceeded: (MEMORY_LIMIT_EXCEEDED)',
  'Timeout exceeded: connection closed, aborted, ECONNRESET, socket hang up',
];
const REFUSED = [
  ['ingest_journal', sql`NOT arrayExists(path -> path LIKE '/refused%', paths)`],
  ['events', sql`path NOT LIKE '/refused%'`],
] as const;

const sessionAt = (id: string, path: string): object => {
  const one = session(id, 1) as { readonly events: readonly object[] };
  return { ...one, events: one.events.map((event) => ({ ...event, path })) };
};

onEachBackend((on) => {
  const change = (table: string, what: Sql): Promise<void> =>
    on.db.command('change', sql`ALTER TABLE ${on.db.shards.stored(table)} ${what}`);

  test.each(REFUSED)(
    'rows that %s refuses are put aside, whatever words they hold',
    async (table, check) => {
      const [app, other] = [newApp(), newApp()];
      await change(table, sql`ADD CONSTRAINT refused CHECK ${check}`);
      const ingestion = ingestionOn(on.db);
      await ingestion.start();
      const send = (sender: typeof app, id: string, path: string) =>
        sentUntilTaken(ingestion, sender, { batchId: randomUUID(), sessions: [sessionAt(id, path)] });
      const answers = await Promise.allSettled(
        WORDS.flatMap((words, i) => [
          send(app, `s${i}`, `/refused ${words}`),
          send(other, `s${i}`, `/${words}`),
        ]),
      );
      expect(answers).toEqual(
        WORDS.flatMap(() => [
          { status: 'rejected', reason: expect.objectContaining({ code: 'validation_failed' }) },
          { status: 'fulfilled', value: expect.anything() },
        ]),
      );
      const aside = (await ingestion.setAside.list()).filter(({ appId }) => appId === app.id);
      expect(aside.map(({ code }) => code)).toEqual(WORDS.map(() => 469));
      expect(await totalsOf(on.db, other.id)).toEqual(stored(WORDS.length, WORDS.length));
      await change(table, sql`DROP CONSTRAINT refused`);
      await ingestion.drain();
    },
    120_000,
  );
});
