import { openDatabase } from '../../src/clickhouse/database.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';

/** Opens the store in a folder, says so, seals until a moment, and says so; to be killed on the way. */
const [dataDir = '', now = ''] = process.argv.slice(2);
const db = await openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
process.stdout.write('open\n');
await seal({ db }, epochMs(Number(now)));
process.stdout.write('sealed\n');
await db.close();
