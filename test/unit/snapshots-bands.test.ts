import { expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import { epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { bandRows, bandsOf, eventsBetween } from '../../src/snapshots/bands.ts';
import { publishedOf } from '../../src/snapshots/published.ts';
import { eventsIn, numbersOf } from '../../src/snapshots/rows.ts';

const APP = appId('6f439299-1c36-4c27-acf0-c6b5de995239');
const [FIRST, LAST] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 3)];
/** What the rows of an erasure say of the times of events that are gone. */
const [NEVER, EVER] = [Date.UTC(2299, 11, 31), 0];

test('bands begin at each bound once, in order, within the times of a bucket', () => {
  const text = bandRows('ledger', APP, [2 * HOUR_MS, HOUR_MS, 2 * HOUR_MS, -HOUR_MS, Date.UTC(2299, 0)]);
  expect(text).toContain('[0, 3600, 7200, 4294967295]');
});

test('events between two bounds are those of a kind in the bands there', () => {
  const bands = bandsOf('ledger', [
    ['page', [1, 2, 3]],
    ['ledger event', [0, 4, 9, 9, 9]],
    ['ledger event', [HOUR_MS, 5, 9, 9, 9]],
    ['ledger session', [HOUR_MS, 6, 9, 9, 9]],
    ['ledger event', [3 * HOUR_MS, 7, 9, 9, 9]],
  ]);
  expect(eventsBetween(bands, 'event', HOUR_MS, 3 * HOUR_MS)).toBe(5);
  const range = (from: number, to: number) => ({ from: epochMs(from), to: epochMs(to) });
  // The first hour of the scope begins before it; the hour after it does not count.
  const scope = { events: range(HOUR_MS + 5, 3 * HOUR_MS - 1), sessions: range(0, HOUR_MS) };
  expect(eventsIn(bands, scope)).toEqual([5, 6]);
  expect(eventsIn(bands, { events: range(-HOUR_MS, -1), sessions: null })).toEqual([0, 0]);
});

test('rows of an erasure change no bound of the times', () => {
  const bands = bandsOf('ledger', [
    ['ledger session', [0, 3, LAST, FIRST, LAST]],
    ['ledger session', [LAST, 0, LAST, NEVER, EVER]],
  ]);
  const published = { page: publishedOf(), session: publishedOf() };
  expect(numbersOf(new Map(), bands, published)).toMatchObject({
    sessionEvents: 3,
    starts: { from: FIRST, to: LAST },
    extent: { from: FIRST, to: LAST },
    asOf: LAST,
  });
});
