import type { Database } from '../clickhouse/database.ts';
import { alone } from './alone.ts';
import { shared } from './shared.ts';
import type { Sharing } from './sharing.ts';

/** How this process shares the store. Keeps nothing itself: each part that it makes is its caller's own. */
export const sharingOf = (db: Database): Sharing => (db.engine === 'embedded' ? alone(db) : shared(db));
