import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { expectAgreement, type Subject } from '../support/oracle/compare.ts';
import { subjectOn } from '../support/oracle/subject.ts';

const CHILD = fileURLToPath(new URL('../support/sealing-child.ts', import.meta.url));
const DAY = 86_400_000;
const LIVES = 4;
const SEEDS = (process.env['SEALING_SEEDS'] ?? '11,12').split(',').map(Number);

let dataDir: string;
let db: Database;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'analytics-sealing-'));
  await open();
  await migrate(db);
});

afterEach(async () => {
  await db.close();
  removeFolder(dataDir);
});

async function open(): Promise<void> {
  db = await openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
}

/** Seals in a child process that is killed after `ms`. Resolves to true if it had finished before. */
async function sealAndKill(now: number, ms: number): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD, dataDir, String(now)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said === 'open\n') setTimeout(() => child.kill('SIGKILL'), ms);
  });
  await once(child, 'close');
  return said.includes('sealed');
}

/** Odd seeds check after the next run has cleaned up, even seeds check what the kill left. */
test.each(SEEDS)(
  'a sealing run killed at any moment leaves exact answers, seed %i',
  {
    timeout: 0,
  },
  async (seed) => {
    const from = Date.UTC(2022, 2, 10);
    const story = randomTraffic({ seed, from, apps: 2, sessions: 600, visitors: 250, days: 40, probes: 6 });
    const killed: boolean[] = [];
    const every = Math.floor(story.batches.length / LIVES);
    let arrived = 0;
    /**
     * Seals in a child between batches. The folder has one user at a time, so the store is closed meanwhile.
     */
    const live = async (subject: Subject): Promise<Subject> => {
      await db.close();
      const life = killed.length;
      killed.push(!(await sealAndKill(from + (5 + life * 6) * DAY, 40 + ((life * 137) % 600))));
      await open();
      const next = await subjectOn(db);
      next.begin(subject.apps());
      return next;
    };
    await expectAgreement(await subjectOn(db), story, {
      afterArrivals: async (subject, count) => {
        const due = Math.floor(count / every) > Math.floor(arrived / every);
        arrived = count;
        return due ? live(subject) : subject;
      },
      beforeQuestions: async (subject) => {
        const next = await live(subject);
        if (seed % 2 === 1) await seal({ db }, epochMs(from + 60 * DAY));
        return next;
      },
    });
    process.stdout.write(`sealing: killed in ${killed.filter(Boolean).length} of ${killed.length} lives\n`);
    expect(killed.filter(Boolean).length).toBeGreaterThan(0);
  },
);
