import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ASSUMED, capacity, capacityTable, costOfEvents, MACHINES, MEASURED } from '../../bench/capacity.ts';

test('docs/scaling.md has the table: `npm run capacity` prints it', () => {
  const text = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  expect(text).toContain(`\n${capacityTable()}\n`);
});

test('the cost of a batch and of an event gives back both measurements', () => {
  const { batch, event } = costOfEvents();
  expect(MEASURED.cores / (event + batch / 20)).toBeCloseTo(MEASURED.events20PerSecond);
  expect(MEASURED.cores / (event + batch / 500)).toBeCloseTo(MEASURED.events500PerSecond);
});

test('a thirty-day month of a thousand events per second', () => {
  const found = capacity(2_592_000_000);
  expect(found.eventsPerSecond).toBe(1_000);
  expect(found.peakPerSecond).toBe(1_000 * ASSUMED.peak);
  expect(found.sessions).toBe(216_000_000);
  expect(found.journalPerSecond).toBe(750);
  // On 2 replicas: 2,592 million events × 24 months × 21.4 bytes, and 250 batches/s × 9 days × 60 bytes.
  expect(found.terabytes).toBeCloseTo(2 * (1.3313 + 0.0117), 3);
  expect(found.megabitsPerSecond).toBeCloseTo(6.24);
});

test('ten times the events cost ten times the cores and the disk, and as many machines as hold them', () => {
  const [one, ten] = [capacity(1e10), capacity(1e11)];
  for (const part of ['ingestion', 'sealing', 'questions', 'polls', 'terabytes'] as const) {
    expect(ten[part] / one[part]).toBeCloseTo(10);
  }
  const disk = MACHINES.node.terabytes * MACHINES.diskUsable;
  for (const { nodes, shards, terabytes } of [one, ten]) {
    expect(nodes).toBe(shards * ASSUMED.replicas);
    expect(terabytes / nodes).toBeLessThanOrEqual(disk);
  }
});

test('nothing needs two API machines and one shard', () => {
  expect(capacity(1)).toMatchObject({ apis: 2, shards: 1, nodes: ASSUMED.replicas });
});
