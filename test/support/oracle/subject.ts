import { setTimeout as sleep } from 'node:timers/promises';
import { steadyAnalytics } from '../../../bench/steady-analytics.ts';
import type { Analytics } from '../../../src/analytics/answers/results.ts';
import { Memory } from '../../../src/analytics/memory/memory.ts';
import type { Database } from '../../../src/clickhouse/database.ts';
import { byName } from '../../../src/domain/by-name.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { AppId } from '../../../src/domain/ids.ts';
import { epochMs } from '../../../src/domain/time.ts';
import { createIngestion, type Ingestion } from '../../../src/ingestion/ingestion.ts';
import type { SentBatch } from '../generate.ts';
import type { Subject } from './compare.ts';

/** Later than every event of the cases. Events are never too old here. */
const INGESTION_CLOCK = epochMs(Date.UTC(2030, 0, 1));
const MAX_AGE_DAYS = 36_500;
/** Attempts per question, one second apart. */
const MAX_ATTEMPTS = 60;
const REFUSED_MS = 1_000;

/** Runs the real pipeline and the real questions on a migrated store. */
export async function subjectOn(db: Database): Promise<Subject & { readonly ingestion: Ingestion }> {
  const clock = { now: epochMs(0) };
  const ingestion = createIngestion({
    db,
    clock: () => INGESTION_CLOCK,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    maxAgeDays: MAX_AGE_DAYS,
  });
  await ingestion.start();
  let current: readonly AppId[] = [];
  return {
    clock,
    ingestion,
    apps: () => current,
    begin: (apps) => {
      current = apps;
    },
    analytics: askedAgain(
      inTurns(steadyAnalytics({ db }), steadyAnalytics({ db, memory: new Memory(0), manyEvents: 0 })),
    ),
    deliver: async (app, batchId, deliveries) => {
      const batch = { batchId, sessions: deliveries.map(onTheWire) };
      const result = await ingestion.accept(app, batch, { userAgent: '', address: '127.0.0.1' });
      return { accepted: result.accepted, duplicate: result.duplicate === true };
    },
  };
}

/** Every third question is one to `other`. */
function inTurns(analytics: Analytics, other: Analytics): Analytics {
  let turn = 0;
  const names = Object.keys(analytics) as (keyof Analytics)[];
  return byName(names, (name) => (...args: never[]) => {
    const asked = turn++ % 3 === 0 ? other : analytics;
    return (asked[name] as (...args: never[]) => unknown)(...args);
  }) as Analytics;
}

/**
 * Repeats refused questions, as a caller would. On a busy machine a statement may wait too long for its
 * place, and a refusal is no wrong answer.
 */
const askedAgain = (analytics: Analytics): Analytics =>
  Object.fromEntries(
    Object.entries(analytics).map(([name, ask]) => [
      name,
      async (...args: never[]): Promise<unknown> => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await (ask as (...args: never[]) => Promise<unknown>)(...args);
          } catch (error) {
            if (!isRefusal(error) || attempt === MAX_ATTEMPTS) throw error;
            await sleep(REFUSED_MS);
          }
        }
      },
    ]),
  ) as unknown as Analytics;

const isRefusal = (error: unknown): boolean => error instanceof AppError && error.status === 503;

const iso = (at: number): string => new Date(at).toISOString();

const onTheWire = ({ session, context, events }: SentBatch['deliveries'][number]): object => ({
  id: session.id,
  visitorId: session.visitorId,
  startedAt: iso(session.startedAt),
  context,
  events: events.map((event) => ({ ...event, timestamp: iso(event.timestamp) })),
});
