import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase, type Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { byChance } from '../support/chance.ts';
import { ingestionOn, newApp, stored, totalsOf } from './ingestion-support.ts';

const CHILD = fileURLToPath(new URL('./ingestion-child.ts', import.meta.url));
const LIVES = 5;

const SESSIONS: Query<{ number: number; views: number }> = {
  name: 'sessions',
  sql: sql`SELECT toUInt32(substring(session_id, 2)) AS number, toUInt32(count()) AS views FROM events
        WHERE app_id = {app:UUID} GROUP BY session_id`,
  row: z.object({ number: z.number(), views: z.number() }),
};

/** Starts a process on `folder`, kills it after some acknowledgements, and returns their numbers. */
async function live(folder: string, app: string, first: number, acknowledgements: number): Promise<number[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD, folder, app, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
  });
  const exited = once(child, 'exit');
  const numbers: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready') continue;
    numbers.push(Number(line));
    if (numbers.length === acknowledgements) child.kill('SIGKILL');
  }
  await exited;
  return numbers;
}

test('a process killed again and again has stored every acknowledged event once, everywhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-crash-'));
  try {
    const app = newApp();
    const acknowledged: number[] = [];
    for (let i = 0; i < LIVES; i++) {
      // Begins before the last acknowledged batch: batches without an acknowledgement are sent again.
      const first = Math.max(0, ...acknowledged) - (i === 0 ? 0 : 12);
      acknowledged.push(...(await live(folder, app.id, Math.max(0, first), 10 + byChance(30))));
    }
    const db = await openDatabase({ kind: 'embedded', dataDir: folder, database: 'analytics' });
    const ingestion = ingestionOn(db);
    await ingestion.start();
    const sessions = await db.query(SESSIONS, { app: app.id });
    const views = new Map(sessions.map(({ number, views }) => [number, views]));
    expect([...views].filter(([number, count]) => count !== 1 + (number % 7))).toEqual([]);
    expect(acknowledged.filter((number) => !views.has(number))).toEqual([]);
    const events = sessions.reduce((sum, session) => sum + session.views, 0);
    expect(await totalsOf(db, app.id)).toEqual(stored(sessions.length, events));
    await ingestion.drain();
    await db.close();
  } finally {
    removeFolder(folder);
  }
});
