import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAttention } from '../../src/sdk/attention.ts';
import { createSessions, DAY_MS, IDLE_MS } from '../../src/sdk/sessions.ts';
import type { Store } from '../../src/sdk/store.ts';
import { forAll } from '../support/random.ts';
import { memoryStore } from './sdk-store.ts';

const T0 = Date.parse('2026-11-20T07:16:00Z');

const sessionsOver = (store: Store) => createSessions(store, () => ({ language: 'fa-IR' }));

describe('a session', () => {
  test('goes on for 30 idle minutes, also in another tab, and ends after them', () => {
    const store = memoryStore();
    const first = sessionsOver(store).place(T0);
    expect(first.head.startedAt).toBe('2026-11-20T07:16:00.000Z');
    expect(sessionsOver(store).place(T0 + IDLE_MS)).toEqual({ head: first.head, at: T0 + IDLE_MS });
    const late = sessionsOver(store).place(T0 + 2 * IDLE_MS + 1);
    expect(late.head.id).not.toBe(first.head.id);
    expect(late.head.visitorId).toBe(first.head.visitorId);
    expect(Date.parse(late.head.startedAt)).toBe(T0 + 2 * IDLE_MS + 1);
  });

  test('lasts 24 hours however busy it is', () => {
    const sessions = sessionsOver(memoryStore());
    const { head } = sessions.place(T0);
    for (let at = T0; at <= T0 + DAY_MS; at += IDLE_MS) expect(sessions.place(at).head.id).toBe(head.id);
    expect(sessions.place(T0 + DAY_MS + 1).head.id).not.toBe(head.id);
  });

  test('starts anew if the stored value is no session', () => {
    for (const junk of [7, 'x', {}, { last: 'x', startedAt: null }, []]) {
      const store = memoryStore();
      store.set('s', junk);
      expect(sessionsOver(store).place(T0)).toMatchObject({
        at: T0,
        head: { startedAt: new Date(T0).toISOString() },
      });
    }
  });

  test('holds its events within 24 hours of its start and never goes back, whatever the clock does', async () => {
    const steps = fc.array(fc.integer({ min: -2 * IDLE_MS, max: 2 * IDLE_MS }), {
      maxLength: 100,
      size: 'max',
    });
    await forAll(steps, (jumps) => {
      const sessions = sessionsOver(memoryStore());
      const latest = new Map<string, number>();
      let now = T0;
      for (const jump of jumps) {
        now += jump;
        const { head, at } = sessions.place(now);
        const start = Date.parse(head.startedAt);
        expect(at).toBeGreaterThanOrEqual(latest.get(head.id) ?? start);
        expect(at).toBeLessThanOrEqual(start + DAY_MS);
        expect(Math.abs(at - now)).toBeLessThanOrEqual(IDLE_MS);
        latest.set(head.id, at);
      }
    });
  });
});

describe('attention', () => {
  test('counts visible time, not the time between', () => {
    const attention = createAttention();
    attention.update(true, T0, T0 + IDLE_MS);
    attention.update(false, T0 + 1_500, T0 + IDLE_MS);
    attention.update(true, T0 + 60_000, T0 + IDLE_MS);
    attention.update(false, T0 + 60_250, T0 + IDLE_MS);
    expect(attention.take()).toEqual({ ms: 1_750, from: T0 });
    expect(attention.take().ms).toBe(0);
  });

  test('stops with the session', () => {
    const attention = createAttention();
    attention.update(true, T0, T0 + IDLE_MS);
    attention.update(false, T0 + 10 * IDLE_MS, T0 + IDLE_MS);
    expect(attention.take().ms).toBe(IDLE_MS);
  });

  test('begins anew on a page that is visible after the session', () => {
    const attention = createAttention();
    attention.update(true, T0 + 2 * IDLE_MS, T0);
    attention.update(false, T0 + 2 * IDLE_MS + 700, T0);
    expect(attention.take()).toEqual({ ms: 700, from: T0 + 2 * IDLE_MS });
  });

  test('a clock that is set back subtracts nothing', () => {
    const attention = createAttention();
    attention.update(true, T0, T0 + IDLE_MS);
    attention.update(true, T0 + 400, T0 + IDLE_MS);
    attention.update(false, T0 - 5_000, T0 + IDLE_MS);
    expect(attention.take().ms).toBe(400);
  });
});
