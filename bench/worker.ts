import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { Memory } from '../src/analytics/memory/memory.ts';
import { casesOf } from './cases.ts';
import { Progress } from './progress.ts';
import { type AnswerSchema, AskSchema } from './protocol.ts';
import { createRawAnalytics } from './raw/analytics.ts';
import { timed } from './statistics.ts';
import { steadyAnalytics } from './steady-analytics.ts';
import { openBenchStore } from './store.ts';

// Holds one data set in its own process, because the embedded engine binds one folder per process. Receives a
// case, runs it, and sends the measurements.

const [dir = '', events, days] = process.argv.slice(2);
const shape = { events: Number(events), days: Number(days) };
const reporter = { progress: new Progress(), signal: new AbortController().signal };
const { db } = await openBenchStore(reporter, dir, shape, () => undefined);
// Caches are off, so that the store is measured.
const analytics = steadyAnalytics({ db, memory: new Memory(0) });
const raw = createRawAnalytics(db);
const cases = casesOf(shape);

async function answer(ask: z.infer<typeof AskSchema>): Promise<z.infer<typeof AnswerSchema>> {
  const found = cases.find(({ endpoint, range }) => endpoint === ask.endpoint && range === ask.range);
  if (found === undefined) throw new Error(`no such case: ${ask.endpoint}, ${ask.range}`);
  const { ms, result } = await timed(() => found.ask(analytics));
  if (!ask.withRaw) return { ms, raw: null };
  const asked = await timed(() => found.ask(raw));
  return { ms, raw: { ms: asked.ms, equal: isDeepStrictEqual(result, asked.result) } };
}

/** A failed measurement ends the process, and the parent sees its end. */
const end = (error: unknown): void => {
  console.error(error);
  process.exit(1);
};
process.on('message', (message) => {
  answer(AskSchema.parse(message)).then((answered) => process.send?.(answered), end);
});
process.on('disconnect', () => {
  db.close().catch(end);
});
process.send?.('ready');
