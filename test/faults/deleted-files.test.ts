import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { filesBelow, hasOneOf } from '../support/files.ts';
import { foundIn } from '../support/traces.ts';
import { atEnd, folder, started } from './folders.ts';
import { type App, type Running, running } from './support.ts';

/*
 * docs/privacy.md says for how long files of deleted data stay. Files of columns are compressed, so their texts are searched
 * by the engine: every column of every table, with the rows that are only marked as deleted. A file of a part that the
 * engine does not use cannot be searched, so there may be none. All files are searched as they are, too.
 */

const SECONDS = 40;
const WORD = 'doomed-';

/** The parts on the disk, wherever they are in the data folder. */
const partsOnDisk = (dataDir: string): string[] =>
  filesBelow(join(dataDir, 'clickhouse', 'store'))
    .filter((path) => path.endsWith('/checksums.txt'))
    .map((path) => path.split('/').slice(-3, -1).join('/'))
    .sort();

/** The files of the data folder with the text as it is. */
const filesWith = (dataDir: string, text: string): string[] =>
  filesBelow(dataDir).filter((path) => hasOneOf(join(dataDir, path), [text]));

/** Sends a session whose texts begin with `word`, with some of another visitor. */
async function record(service: Running, { id, secretKey }: App, word: string): Promise<void> {
  const startedAt = new Date(Date.now() - 1_000).toISOString();
  const events = [{ type: 'pageview', timestamp: startedAt, path: `/${word}path` }];
  const context = { utm: { source: `${word}source` }, location: { country: 'IR', city: `${word}city` } };
  const sessions = [
    { id: `${word}${randomUUID()}`, visitorId: `${word}visitor`, startedAt, context, events },
  ];
  const body = { appId: id, secretKey, batchId: randomUUID(), sessions };
  expect((await service.ask('/sdk/v1/events', { method: 'POST', body })).status).toBe(200);
}

test.each(['while it runs', 'after a stop and a start'])(
  'nothing of a deleted app and an erased visitor is in any file after the promised time: %s',
  async (when) => {
    const dataDir = folder();
    const { service, tenant } = await started(dataDir);
    const other = await service.newTenant();
    for (let i = 0; i < 6; i++) {
      await record(service, tenant.app, WORD);
      await record(service, other.app, WORD);
      await record(service, other.app, 'kept-');
    }
    const before = partsOnDisk(dataDir);
    await service.admin('app', 'delete', '--app', tenant.app.id, '--yes');
    await service.admin('visitor', 'erase', '--app', other.app.id, '--visitor', `${WORD}visitor`);
    let last = service;
    if (when !== 'while it runs') {
      await service.stop();
      last = await running({ DATA_DIR: dataDir });
      atEnd(() => last.kill());
    }
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
    await last.kill();
    const left = partsOnDisk(dataDir);
    expect(filesWith(dataDir, WORD)).toEqual([]);
    const db = await openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
    const used = await db.query({
      name: 'parts in use',
      sql: sql`SELECT concat(splitByChar('/', path)[-3], '/', name) AS part FROM system.parts WHERE active`,
      row: { parse: (row) => (row as { part: string }).part },
    });
    const found = await foundIn(db, [WORD]);
    const kept = await foundIn(db, ['kept-']);
    await db.close();
    expect(before.length).toBeGreaterThan(0);
    expect(left.filter((part) => !used.includes(part))).toEqual([]);
    expect(found).toEqual([]);
    expect(kept).toEqual(expect.arrayContaining(['events.path', 'sessions.entry']));
  },
);
