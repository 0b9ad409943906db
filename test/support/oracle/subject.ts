import { createAnalytics } from '../../../src/analytics/analytics.ts';
import type { Database } from '../../../src/clickhouse/database.ts';
import type { AppId } from '../../../src/domain/ids.ts';
import { epochMs } from '../../../src/domain/time.ts';
import { createIngestion } from '../../../src/ingestion/ingestion.ts';
import type { SentBatch } from '../generate.ts';
import type { Subject } from './compare.ts';

/** Later than everything that cases send, which is never too old. */
const INGESTION_CLOCK = epochMs(Date.UTC(2030, 0, 1));
const MAX_AGE_DAYS = 36_500;

/** The real pipeline and the real questions on a migrated store. */
export async function subjectOn(db: Database): Promise<Subject> {
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
    apps: () => current,
    begin: (apps) => {
      current = apps;
    },
    analytics: createAnalytics({ db, clock: () => clock.now }),
    deliver: async (app, batchId, deliveries) => {
      const batch = { batchId, sessions: deliveries.map(onTheWire) };
      const result = await ingestion.accept(app, batch, { userAgent: '', address: '127.0.0.1' });
      return { accepted: result.accepted, duplicate: result.duplicate === true };
    },
  };
}

const iso = (at: number): string => new Date(at).toISOString();

const onTheWire = ({ session, context, events }: SentBatch['deliveries'][number]): object => ({
  id: session.id,
  visitorId: session.visitorId,
  startedAt: iso(session.startedAt),
  context,
  events: events.map((event) => ({ ...event, timestamp: iso(event.timestamp) })),
});
