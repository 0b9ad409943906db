import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { RunEnded } from '../../src/facts/runs.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { onOneBackend } from '../support/backends.ts';
import { byChance } from '../support/chance.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import type { Subject } from '../support/oracle/compare.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { expireBefore, Play, testRetention } from '../support/retention.ts';
import { testStore } from '../support/store.ts';
import { type Mode, stoppedAt } from '../support/two-sealers.ts';

const DAY = 86_400_000;
const FROM = Date.UTC(2022, 2, 18);
const CHILD = fileURLToPath(new URL('../support/retention-child.ts', import.meta.url));
/** For tests that compare all answers many times. */
const story = () =>
  randomTraffic({
    seed: byChance(1e9),
    from: FROM,
    apps: 1,
    sessions: 80,
    visitors: 30,
    days: 8,
    probes: 1,
  });

onOneBackend((on) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await subjectOn(on.db);
  });
  testRetention(
    {
      get db() {
        return on.db;
      },
      get subject() {
        return subject;
      },
    },
    Number(process.env['RETENTION_RANGES'] ?? 15),
  );

  const MODES: readonly Mode[] = ['paused', 'dead, but its statement goes on', 'dead', 'cut off'];
  test('one of two processes stops before each write of an expiry', { timeout: 0 }, async () => {
    let wasStopped = true;
    for (let stop = 1; wasStopped; stop++) {
      const play = new Play(on.db, subject, story());
      await play.sendAll();
      await seal({ db: on.db, only: [play.app.id] }, epochMs(FROM + 40 * DAY));
      play.refuseBefore(FROM + 5 * DAY);
      const one = stoppedAt(on.db, stop, MODES[stop % MODES.length] ?? 'paused');
      const expiring = expireBefore(one.db, [play.app.id], FROM + 4 * DAY).then(
        () => 'done',
        (error: unknown) => error,
      );
      const first = await Promise.race([one.stopped.then(() => 'stopped'), expiring]);
      wasStopped = first === 'stopped';
      if (wasStopped) {
        await play.compare();
        await expireBefore(on.db, [play.app.id], FROM + 5 * DAY);
        await seal({ db: on.db, only: [play.app.id] }, epochMs(FROM + 40 * DAY));
        await one.goOn();
        const outcome = MODES[stop % MODES.length]?.startsWith('dead') ? 'dead' : await expiring;
        if (outcome instanceof Error && !(outcome instanceof RunEnded)) {
          expect(outcome.message).toContain('The connection was cut');
        }
      }
      await play.compare();
      await seal({ db: on.db, only: [play.app.id] }, epochMs(FROM + 41 * DAY));
      const { horizon } = await play.horizon();
      expect(horizon).toBe(FROM + (wasStopped ? 5 : 4) * DAY);
    }
  });
});

const SIZE = {
  name: 'size of the raw events',
  sql: sql`SELECT toUInt32(sum(bytes_on_disk)) AS bytes, toUInt32(sum(rows)) AS events FROM system.parts
WHERE database = currentDatabase() AND table = 'events' AND active`,
  row: z.object({ bytes: z.number(), events: z.number() }),
};

test('an expiry deletes events and frees their bytes', { timeout: 0 }, async () => {
  const store = await testStore();
  const { db } = store;
  try {
    const subject = await subjectOn(db);
    const app = { id: appId(randomUUID()), domain: KNOWN_DOMAIN };
    const begins = Array.from({ length: 3_000 }, (_, i) => FROM + ((i * 7_919_113) % (8 * DAY)));
    for (let sent = 0; sent < begins.length; sent += 500) {
      const deliveries = begins.slice(sent, sent + 500).map((startedAt, i) => ({
        session: { id: randomUUID(), visitorId: randomUUID(), startedAt },
        context: { language: 'en' },
        events: [0, 1, 2, 3].map((event) => ({
          type: 'pageview' as const,
          timestamp: startedAt + event * 9_001,
          path: `/page/${i % 90}`,
        })),
      }));
      await subject.deliver(app, randomUUID(), deliveries);
    }
    await seal({ db, only: [app.id] }, epochMs(FROM + 40 * DAY));
    const before = await db.queryOne(SIZE);
    const { events } = await expireBefore(db, [app.id], FROM + 5 * DAY);
    const after = await db.queryOne(SIZE);
    expect(before.events).toBe(12_000);
    expect(events).toBeGreaterThan(0);
    expect(after.events).toBe(before.events - events);
    // In parts as small as these, most bytes do not depend on the rows.
    expect(after.bytes).toBeLessThan(before.bytes);
  } finally {
    await store.close();
  }
});

test('a process is killed at any moment of an expiry', { timeout: 0 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-retention-'));
  const open = () => openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
  let db = await open();
  try {
    await migrate(db);
    const play = new Play(db, await subjectOn(db), story());
    await play.sendAll();
    await seal({ db }, epochMs(FROM + 40 * DAY));
    play.refuseBefore(FROM + 7 * DAY);
    let killed = 0;
    for (let ms = 30; ms < 500; ms += 130) {
      await db.close();
      const days = [FROM + DAY, FROM + 7 * DAY].map(String);
      const child = spawn(process.execPath, ['--import', 'tsx', CHILD, dataDir, play.app.id, ...days], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said === 'open\n') setTimeout(() => child.kill('SIGKILL'), ms);
      });
      await once(child, 'close');
      if (!said.includes('expired')) killed += 1;
      db = await open();
      play.goOn(db, await subjectOn(db));
      await play.compare();
    }
    expect(killed).toBeGreaterThan(0);
    await expireBefore(db, [play.app.id], FROM + 7 * DAY);
    await play.compare();
    const { horizon, oldest } = await play.horizon();
    expect(horizon).toBe(FROM + 7 * DAY);
    expect(oldest).toBeGreaterThanOrEqual(FROM + 6 * DAY);
  } finally {
    await db.close();
    removeFolder(dataDir);
  }
});
