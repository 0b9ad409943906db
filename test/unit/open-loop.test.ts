import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openLoop, type Stream, statusesOf } from '../support/open-loop.ts';

const stream = (kind: string, perSecond: number, ask: () => Promise<number> = async () => 200): Stream => ({
  kind,
  perSecond,
  ask,
});

test('each stream sends its share in the order of time, also while nothing is answered', async () => {
  const sent: string[] = [];
  const noting = (kind: string, perSecond: number): Stream =>
    stream(kind, perSecond, async () => {
      sent.push(kind);
      await sleep(60);
      return 200;
    });
  // Due after 0, 10, 20, 30 and 40 ms, and after 12.5 and 37.5 ms.
  const samples = await openLoop([noting('often', 100), noting('seldom', 40)], 50);
  expect(sent).toEqual(['often', 'often', 'seldom', 'often', 'often', 'seldom', 'often']);
  expect(statusesOf(samples, 'often')).toEqual({ 200: 5 });
  expect(statusesOf(samples, 'seldom')).toEqual({ 200: 2 });
});

test('a stream without a rate sends nothing, and a request without an answer has status 0', async () => {
  const failing = stream('failing', 20, () => Promise.reject(new Error('refused')));
  const samples = await openLoop([failing, stream('none', 0)], 50);
  expect(samples.map(({ kind, status }) => [kind, status])).toEqual([['failing', 0]]);
});

test('many streams wait without a warning of Node, and an abort ends them', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const controller = new AbortController();
  const streams = Array.from({ length: 30 }, (_, i) => stream(`stream ${i}`, 0.1));
  const loop = openLoop(streams, 3_600_000, controller.signal);
  await sleep(10);
  controller.abort();
  expect((await loop).length).toBeLessThan(streams.length);
  expect(warnings).toEqual([]);
});
