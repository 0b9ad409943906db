import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { appId } from '../../src/domain/ids.ts';
import { ingestionOn, REQUEST, session } from './ingestion-support.ts';

/**
 * Senders and the service in one process, which a test kills. Stores batches with ids made from their
 * numbers, and prints the number of each acknowledged one. Arguments: folder, app, first number.
 */
const [folder = '', app = '', first = '0'] = process.argv.slice(2);
const db = await openDatabase({ kind: 'embedded', dataDir: folder, database: 'analytics' });
await migrate(db);
const ingestion = ingestionOn(db);
await ingestion.start();
writeSync(1, 'ready\n');

let next = Number(first);
const uuidOf = (text: string): string => {
  const hash = createHash('sha256').update(text).digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
};

async function sender(): Promise<void> {
  for (;;) {
    const number = next++;
    const batch = {
      batchId: uuidOf(`${app} ${number}`),
      sessions: [session(`s${number}`, 1 + (number % 7))],
    };
    await ingestion.accept({ id: appId(app), domain: 'https://shop.example' }, batch, REQUEST);
    // Written synchronously: a pipe's buffer survives the process, a stream's does not.
    writeSync(1, `${number}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, sender));
