import { openDatabase } from '../../src/clickhouse/database.ts';
import { appId } from '../../src/domain/ids.ts';
import { expireBefore } from './retention.ts';

/**
 * A process that lets the events of an app in a folder expire, day by day up to a horizon. It reports its steps, so
 * that the parent can kill it on the way.
 */
const [dataDir = '', app = '', first = '', last = ''] = process.argv.slice(2);
const db = await openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
process.stdout.write('open\n');
for (let day = Number(first); day <= Number(last); day += 86_400_000) {
  await expireBefore(db, [appId(app)], day);
}
process.stdout.write('expired\n');
await db.close();
