import { randomUUID } from 'node:crypto';
import type { Database } from '../src/clickhouse/database.ts';
import { epochMs, MINUTE_MS, toIso } from '../src/domain/time.ts';
import { createIngestion } from '../src/ingestion/ingestion.ts';
import { BIG_APP, NOW } from './shape.ts';

/** From one batch to the next. */
const EVERY_MS = 50;
const SESSIONS = 5;
const APP = { id: BIG_APP, domain: 'https://shop.example' };
const REQUEST = {
  address: '127.0.0.1',
  userAgent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
};
const LOG = { info: () => undefined, warn: console.log, error: console.log };

export interface Storing {
  /** Waits until a further batch is acknowledged. */
  next(): Promise<void>;
  stop(): Promise<void>;
}

/** Stores a batch of the big app every 50 ms, as the service does, until it is stopped. */
export async function startStoring(db: Database): Promise<Storing> {
  const ingestion = createIngestion({ db, clock: () => NOW, log: LOG, maxAgeDays: 30 });
  await ingestion.start();
  const sent: Promise<unknown>[] = [];
  let waiting: ((stored: Promise<unknown>) => void)[] = [];
  const timer = setInterval(() => {
    const batch = { batchId: randomUUID(), sessions: Array.from({ length: SESSIONS }, newSession) };
    const stored = ingestion.accept(APP, batch, REQUEST);
    // Those who wait, and `stop`, reject with it.
    const tell = (): void => {
      for (const resolve of waiting) resolve(stored);
      waiting = [];
    };
    stored.then(tell, tell);
    sent.push(stored);
  }, EVERY_MS);
  return {
    next: async () => {
      await new Promise((resolve) => waiting.push(resolve));
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all(sent);
      await ingestion.drain();
    },
  };
}

/** A session of a view and a click, which began in the last ten minutes before `NOW`: the clock stands still. */
function newSession(): object {
  const startedAt = NOW - Math.floor(Math.random() * 10 * MINUTE_MS);
  const timestamp = toIso(epochMs(startedAt));
  const path = `/page/${Math.floor(Math.random() * 300)}`;
  return {
    id: randomUUID(),
    visitorId: `visitor-${Math.floor(Math.random() * 50_000)}`,
    startedAt: timestamp,
    events: [
      { type: 'pageview', timestamp, path },
      { type: 'click', timestamp, path, target: '#buy' },
    ],
  };
}
