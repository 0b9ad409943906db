import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { atEnd, folder, started } from './folders.ts';
import { running } from './support.ts';

/*
 * docs/privacy.md says for how long files of deleted data stay. The rows in them are compressed, so no text can be
 * searched: instead, no file may be there but those of parts that the engine uses.
 */

const SECONDS = 40;

/** The parts on the disk, wherever they are in the data folder. */
const partsOnDisk = (dataDir: string): string[] =>
  readdirSync(join(dataDir, 'clickhouse', 'store'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('/checksums.txt'))
    .map((path) => path.split('/').slice(-3, -1).join('/'))
    .sort();

test.each(['while it runs', 'after a stop and a start'])(
  'files of deleted data are gone in the promised time: %s',
  async (when) => {
    const dataDir = folder();
    const { service, tenant } = await started(dataDir);
    const other = await service.newTenant();
    for (let i = 0; i < 6; i++) {
      await service.record(tenant.app, ['/gone']);
      await service.record(other.app, ['/kept']);
    }
    const before = partsOnDisk(dataDir);
    await service.admin('app', 'delete', '--app', tenant.app.id, '--yes');
    let last = service;
    if (when !== 'while it runs') {
      await service.stop();
      last = await running({ DATA_DIR: dataDir });
      atEnd(() => last.kill());
    }
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
    await last.kill();
    const left = partsOnDisk(dataDir);
    const db = await openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
    const used = await db.query({
      name: 'parts in use',
      sql: sql`SELECT concat(splitByChar('/', path)[-3], '/', name) AS part FROM system.parts WHERE active`,
      row: { parse: (row) => (row as { part: string }).part },
    });
    await db.close();
    expect(before.length).toBeGreaterThan(0);
    expect(left.filter((part) => !used.includes(part))).toEqual([]);
  },
);
