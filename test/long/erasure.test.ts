import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { onOneBackend } from '../support/backends.ts';
import { byChance } from '../support/chance.ts';
import { Dead, dying, ErasedStory, watched } from '../support/erasure.ts';
import { subjectOn } from '../support/oracle/subject.ts';

/** Of the writes of an erasure, one in so many is the last one of a process. */
const STRIDE = 29;

onOneBackend((on) => {
  let subject: Awaited<ReturnType<typeof subjectOn>>;
  beforeAll(async () => {
    subject = await subjectOn(on.db);
  });

  test('visitors are erased exactly, whatever was sealed', { timeout: 0 }, async () => {
    const story = new ErasedStory(on.db, subject, { sessions: 24, probes: 1 });
    await story.send(0.3);
    await story.erase('v0');
    await story.seal(3, false);
    await story.erase('v1');
    await story.send(0.5);
    await story.erase('v2');
    await story.seal(40, true);
    await story.send(1);
    await story.compare();
    await story.erase('v3');
    await story.seal(40, true);
    await story.compare();
    await story.erase('v4');
    await story.erase('nobody');
  });

  test('an erasure goes on from any write at which a process died', { timeout: 0 }, async () => {
    const story = new ErasedStory(on.db, subject, { sessions: 24, probes: 1 });
    await story.send(1);
    const visitor = story.busiest();
    await story.seal(3, true);
    for (let last = byChance(STRIDE); ; last += STRIDE) {
      const again = story.of(visitor);
      const isDead = await story
        .erasures(dying(on.db, last))
        .erase(story.app.id, visitor)
        .then(
          () => false,
          (error: unknown) => {
            if (error instanceof Dead) return true;
            throw error;
          },
        );
      await story.erasures().resume();
      // It died before it had written anything.
      if (isDead && last === 0) continue;
      story.without(visitor);
      await story.expectGone(visitor);
      await story.compare();
      await story.deliver(again);
      await story.seal(3, true);
      if (!isDead) return;
    }
  });

  test('after each write of an erasure, each figure lies between those with and without the visitor', {
    timeout: 0,
  }, async () => {
    // All visitors come in the same few hours.
    const story = new ErasedStory(on.db, subject, { sessions: 24, days: 1, probes: 0 });
    await story.send(0.7);
    // The rest comes late.
    await story.seal(1, false);
    await story.send(1);
    const visitor = story.busiest();
    let writes = 0;
    const db = watched(on.db, () => story.expectBetween(visitor, writes++));
    await story.erasures(db).erase(story.app.id, visitor);
    expect(writes).toBeGreaterThan(10);
    story.without(visitor);
    await story.compare();
  });

  test('figures from before the horizon stay, and nothing connects them with the visitor', {
    timeout: 0,
  }, async () => {
    const story = new ErasedStory(on.db, subject, { sessions: 40, probes: 0 });
    await story.send(1);
    const visitor = story.busiest();
    await story.seal(40, true);
    const horizon = await story.expire(2);
    await story.compare();
    const later = story.of(visitor).filter(({ session }) => session.startedAt >= horizon);
    await story.erasures().erase(story.app.id, visitor);
    story.without(visitor, horizon);
    await story.expectGone(visitor);
    await story.compare();
    await story.deliver(later);
    await story.compare();
    await story.seal(40, true);
    await story.compare();
  });

  test('events that come in during an erasure are erased, or count as new', { timeout: 0 }, async () => {
    const story = new ErasedStory(on.db, subject, { sessions: 24, probes: 1 });
    await story.send(0.5);
    const visitor = story.busiest();
    await story.seal(3, true);
    const others = on.db.engine === 'embedded' ? on.db : await openDatabase(on.store.location);
    let isOver = false;
    const erasing = story
      .erasures()
      .erase(story.app.id, visitor)
      .finally(() => {
        isOver = true;
      });
    const before = story.of(visitor);
    story.without(visitor);
    const resumed = (async () => {
      // Another process takes the erasure for interrupted.
      while (!isOver && others !== on.db) {
        await story.erasures(others).resume();
        await sleep(20);
      }
    })();
    const late = before.map((one, i) => ({ ...one, session: { ...one.session, id: `late-${i}` } }));
    for (const one of late) await story.deliver([one]);
    await Promise.all([erasing, resumed]);
    await story.keepStored();
    await story.compare();
    await story.seal(40, true);
    await story.compare();
    if (others !== on.db) await others.close();
  });
});
