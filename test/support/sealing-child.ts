import { openDatabase } from '../../src/clickhouse/database.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';

/**
 * A process that seals the store in a folder up to a moment. It reports its steps, so that the parent can
 * kill it on the way.
 */
const [dataDir = '', now = ''] = process.argv.slice(2);
const db = await openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
process.stdout.write('open\n');
await seal({ db }, epochMs(Number(now)));
process.stdout.write('sealed\n');
await db.close();
