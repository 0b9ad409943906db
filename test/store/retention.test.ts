import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { expire } from '../../src/facts/expiry.ts';
import { seal } from '../../src/facts/pass.ts';
import { onOneBackend } from '../support/backends.ts';
import { byChance } from '../support/chance.ts';
import { instantsOf } from '../support/generate.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import type { Subject } from '../support/oracle/compare.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { playStory } from '../support/retention.ts';
import { ingestionOn, newApp, REQUEST } from './ingestion-support.ts';

const DAY = 24 * 3_600_000;

onOneBackend((on) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await subjectOn(on.db);
  });

  test('what expires while events come in is answered exactly, or refused with exact bounds', async () => {
    const from = Date.UTC(2022, 2, 18);
    const story = randomTraffic({
      seed: byChance(1e9),
      from,
      apps: 1,
      sessions: 70,
      visitors: 60,
      days: 5,
      probes: 2,
    });
    // Begins between two ms of the first hour, which expires: its pages cannot be exact.
    const first = instantsOf(story.batches)[0] ?? from;
    const probes = [...story.probes, { range: { from: first + 1, to: first + DAY }, limit: undefined }];
    const run = { sealedDays: 40, later: 0, repairs: true } as const;
    const played = await playStory(on.db, subject, { ...story, probes }, [
      { ...run, expires: 100, rebuilds: false },
      // At least one day expires, whatever the data.
      { ...run, expires: 200, later: 1, rebuilds: true },
    ]);
    expect(played.refused).toBeGreaterThan(0);
    expect(played.horizon).toBeGreaterThan(from);
  });

  test('a clock that is a year ahead deletes nothing too early', async () => {
    const [app, now] = [newApp(), epochMs(Date.now())];
    const startedAt = new Date(now - 50 * DAY).toISOString();
    const events = [{ type: 'pageview', timestamp: startedAt, path: '/' }];
    const sessions = [
      { id: 'old', visitorId: 'v', startedAt, events },
      {
        id: 'new',
        visitorId: 'v',
        startedAt: new Date(now - DAY).toISOString(),
        events: [{ ...events[0], timestamp: new Date(now - DAY).toISOString() }],
      },
    ];
    await ingestionOn(on.db, () => now).accept(app, { batchId: randomUUID(), sessions }, REQUEST);
    const deps = { db: on.db, only: [app.id] };
    await seal(deps, epochMs(now + 2 * DAY));
    expect(await expire(deps, epochMs(now + 365 * DAY), [{ app: app.id, days: 100 }])).toMatchObject({
      events: 0,
    });
    expect(await expire(deps, now, [{ app: app.id, days: 10 }])).toMatchObject({ events: 1 });
  });
});
