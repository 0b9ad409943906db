import { openDatabase } from '../../src/clickhouse/database.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createIngestion } from '../../src/ingestion/ingestion.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { REQUEST, SILENT } from './ingestion-support.ts';

/**
 * The storing part of a process, which a test kills. Arguments: the store's URL, user, password and database,
 * and the body of a batch.
 */
const [url = '', username = '', password = '', database = '', body = '{}'] = process.argv.slice(2);
const db = await openDatabase({ kind: 'server', url, username, password, database });
const ingestion = createIngestion({ db, clock: () => epochMs(Date.now()), log: SILENT, maxAgeDays: 730 });
const { appId: app, batchId, sessions } = JSON.parse(body);
await ingestion.accept({ id: appId(app), domain: KNOWN_DOMAIN }, { batchId, sessions }, REQUEST);
process.exit(0);
