import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { BatchKey } from '../../src/ingestion/batch-key.ts';
import { KnownBatches } from '../../src/ingestion/known-batches.ts';

const DAY_MS = 86_400_000;
const newBatch = (app: string = randomUUID()): BatchKey => ({ app, batch: randomUUID() });
const nothing = () => Promise.resolve([]);

test('every batch may be stored until the earlier batches are loaded', async () => {
  const known = new KnownBatches();
  expect(known.mayHold(newBatch())).toBe(true);
  await known.load(nothing);
  expect(known.mayHold(newBatch())).toBe(false);
});

test('a stored batch, earlier or later, never counts as new', async () => {
  const known = new KnownBatches();
  const app = randomUUID();
  const before = Array.from({ length: 100_010 }, () => newBatch(app));
  const asked: (BatchKey | null)[] = [];
  await known.load(async (last, limit) => {
    asked.push(last);
    const from = last === null ? 0 : before.indexOf(last) + 1;
    return before.slice(from, from + limit);
  });
  expect(asked).toEqual([null, ...Array.from({ length: 10 }, (_, i) => before[(i + 1) * 10_000 - 1])]);
  const since = Array.from({ length: 100_000 }, () => newBatch(app));
  for (const batch of since) known.add(batch);
  expect([...before, ...since].every((batch) => known.mayHold(batch))).toBe(true);
  const others = Array.from({ length: 100_000 }, () => newBatch(app));
  expect(others.filter((batch) => known.mayHold(batch)).length).toBeLessThan(100);
});

test('the same batch id of another app is another batch', async () => {
  const known = new KnownBatches();
  await known.load(nothing);
  const batch = newBatch();
  known.add(batch);
  expect(known.mayHold({ ...newBatch(), batch: batch.batch })).toBe(false);
});

test('a batch is known for at least 8 days, and not for ever', async () => {
  let now = 0;
  const known = new KnownBatches(() => now);
  await known.load(nothing);
  const batch = newBatch();
  known.add(batch);
  for (now = DAY_MS; now <= 16 * DAY_MS; now += DAY_MS) {
    known.add(newBatch());
    if (now <= 8 * DAY_MS) expect(known.mayHold(batch)).toBe(true);
  }
  now = 25 * DAY_MS;
  known.add(newBatch());
  expect(known.mayHold(batch)).toBe(false);
});

test('a store that cannot be read, or holds too many batches: every batch may be stored, for 8 days', async () => {
  let now = 0;
  const unread = new KnownBatches(() => now);
  await expect(unread.load(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  const page = Array.from({ length: 10_000 }, () => newBatch());
  const full = new KnownBatches(() => now);
  let loaded = 0;
  await full.load((_, limit) => {
    loaded += limit;
    return Promise.resolve(page);
  });
  expect(loaded).toBe(5_000_000);
  for (const known of [unread, full]) expect(known.mayHold(newBatch())).toBe(true);
  now = 9 * DAY_MS;
  for (const known of [unread, full]) {
    known.add(newBatch());
    expect(known.mayHold(newBatch())).toBe(false);
  }
});

test('a load ends when it is closed, and then nothing is certain', async () => {
  const known = new KnownBatches();
  const page = Array.from({ length: 10_000 }, () => newBatch());
  await known.load(() => {
    known.close();
    return Promise.resolve(page);
  });
  expect(known.mayHold(newBatch())).toBe(true);
});
