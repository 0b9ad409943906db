import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { AppError } from '../../src/domain/errors.ts';
import { ingestionOn, newApp, REQUEST, session, totalsOf } from './ingestion-support.ts';

/**
 * Stores batches while too few files can be opened for a flush, and then while all can be. Prints the answers, the number
 * of batches that were put aside, and the totals. Argument: folder. Run it with a low limit of open files.
 */
const [folder = ''] = process.argv.slice(2);
const db = await openDatabase({ kind: 'embedded', dataDir: folder, database: 'analytics' });
await migrate(db);
const ingestion = ingestionOn(db);
await ingestion.start();
const app = newApp();
await ingestion.accept(app, { batchId: randomUUID(), sessions: [session('before')] }, REQUEST);

const taken: number[] = [];
/** Opens files until none is left but `spare`. */
function take(spare: number): void {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    for (const fd of taken.splice(0, spare)) closeSync(fd);
  }
}
const release = (): void => {
  for (const fd of taken.splice(0)) closeSync(fd);
};

const codes: string[] = [];
for (const spare of [10, 12, 14, 18, 22, 26]) {
  take(spare);
  const batch = { batchId: randomUUID(), sessions: [session(`s${spare}`)] };
  const accepted = ingestion.accept(app, batch, REQUEST).then(
    () => 'stored',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
  await Promise.race([accepted, sleep(5_000)]);
  release();
  let code = await accepted;
  codes.push(code);
  while (code === 'store_unavailable') {
    code = await ingestion.accept(app, batch, REQUEST).then(
      () => 'stored',
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    );
    await sleep(200);
    await ingestion.sweep();
  }
}
const result = { codes, aside: (await ingestion.setAside.list()).length, totals: await totalsOf(db, app.id) };
writeSync(1, `${JSON.stringify(result)}\n`);
process.exit(0);
