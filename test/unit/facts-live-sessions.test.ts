import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import { LiveCache, type LiveSession, LiveSessions, SLOT_MS } from '../../src/facts/live-sessions.ts';

const session = (startedAt: number, events: number, words: readonly string[] = []): LiveSession => ({
  startedAt,
  events,
  visitor: 'someone',
  bounced: 0,
  duration_ms: 1,
  pageviews: events,
  clicks: 0,
  errors: 0,
  words,
});
const starts = (sessions: readonly { readonly startedAt: number }[] | undefined) =>
  sessions?.map(({ startedAt }) => startedAt);

test('a slot is cached as long as its number of events stays the same', () => {
  const live = new LiveSessions();
  expect(live.slot(0, 0)).toBeUndefined();
  live.keep([0, 1], [session(5, 2), session(SLOT_MS - 1, 1), session(SLOT_MS, 4)]);
  expect(starts(live.slot(0, 3)?.sessions)).toEqual([5, SLOT_MS - 1]);
  expect(starts(live.slot(1, 4)?.sessions)).toEqual([SLOT_MS]);
  expect(live.slot(0, 4)).toBeUndefined();
  live.forgetBefore(SLOT_MS + 1);
  expect(live.slot(0, 3)).toBeUndefined();
  expect(live.slot(1, 4)).toBeDefined();
});

test('an earlier read does not replace a later one', () => {
  const live = new LiveSessions();
  live.keep([0], [session(5, 3)]);
  // The question that read it still uses it.
  expect(live.keep([0], [session(5, 2)])).toMatchObject([{ events: 2, sessions: [{ events: 2 }] }]);
  expect(live.slot(0, 3)).toBeDefined();
});

test('words are counted by session, without replaced sessions', () => {
  const live = new LiveSessions();
  live.keep([0], [session(1, 1, ['a', 'x'])]);
  const [slot] = live.keep([0], [session(1, 2, ['a', 'y']), session(2, 1, ['a', 'z'])]);
  expect(new Map(live.countWords(slot?.sessions ?? []))).toEqual(
    new Map([
      ['a', 2],
      ['y', 1],
      ['z', 1],
    ]),
  );
});

test('an app is kept from its second question on, while there is room, and not for words alone', () => {
  const [one, other] = [appId(randomUUID()), appId(randomUUID())];
  const cache = new LiveCache(3_000_000);
  expect(cache.of(one)).toBeNull();
  const live = cache.of(one);
  if (live === null) throw new Error('asked again');
  live.keep([0], [session(1, 1)]);
  cache.keep(one, live);
  expect(cache.of(one)).toBe(live);

  cache.of(other);
  const large = cache.of(other);
  if (large === null) throw new Error('asked again');
  large.keep(
    [0],
    Array.from({ length: 5_998 }, (_, i) => session(i, 1)),
  );
  cache.keep(other, large);
  expect(cache.of(other)).toBe(large);
  // There was no room for both, so the first one starts again.
  expect(cache.of(one)).toBeNull();
  expect(cache.of(one)).not.toBe(live);

  const wordy = new LiveSessions();
  wordy.keep(
    [0],
    Array.from({ length: 8_000 }, (_, i) => session(0, 1, [`word ${i}`])),
  );
  wordy.keep([0], [session(0, 8_000)]);
  cache.keep(one, wordy);
  expect(cache.of(one)).not.toBe(wordy);

  cache.clear();
  expect(cache.of(other)).toBeNull();
  const none = new LiveCache(0);
  expect([none.of(one), none.of(one)]).toEqual([null, null]);
});
