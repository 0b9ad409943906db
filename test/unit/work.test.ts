import { expect, test } from 'vitest';
import { currentWork, inWork, Work } from '../../src/domain/work.ts';

test('knows the slowest statement, also of the work that it waits for, also while it runs', async () => {
  const [request, flush] = [new Work('r'), new Work()];
  expect([request.slowest, request.statements]).toEqual([null, 0]);
  const waiting = flush.send('insert events', 'write');
  expect(request.slowest).toBeNull();
  request.waitFor(flush);
  expect(request.slowest).toMatchObject({ name: 'insert events', lane: 'write', state: 'waiting', ms: 0 });
  waiting.start();
  expect(request.slowest).toMatchObject({ state: 'running' });
  // More than the time that the next one may take on a busy machine.
  await new Promise((resolve) => setTimeout(resolve, 50));
  waiting.end('failed');
  expect(request.slowest).toMatchObject({ state: 'failed' });
  request.send('quick', 'lookup').end('ok');
  expect(request.slowest).toMatchObject({ name: 'insert events' });
  expect([request.statements, flush.statements]).toEqual([2, 1]);
});

test('tells what failed or has not ended from what was only slow', async () => {
  const work = new Work('r');
  const slow = work.send('slow', 'read');
  await new Promise((resolve) => setTimeout(resolve, 20));
  slow.end('ok');
  expect(work.stuck).toBeNull();
  work.send('refused', 'read').end('refused');
  expect([work.slowest?.name, work.stuck?.name]).toEqual(['slow', 'refused']);
});

test('is found by all that it starts', async () => {
  const work = new Work('r');
  const found = await inWork(work, async () => {
    await Promise.resolve();
    return currentWork();
  });
  expect(found).toBe(work);
  expect(currentWork()).toBeUndefined();
});
