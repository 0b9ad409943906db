import type { Logger } from 'pino';
import { assertWhole } from '../backup/restore.ts';
import type { Database, StatementStats } from '../clickhouse/database.ts';
import { migrate } from '../clickhouse/migrate.ts';
import type { Config } from '../config.ts';
import { Damage } from '../damage/watch.ts';
import type { Locks } from '../domain/locks.ts';
import type { Tracer } from '../domain/tracing.ts';
import { currentWork } from '../domain/work.ts';
import { createIngestion } from '../ingestion/ingestion.ts';
import { ensureManagementSecret } from '../management/secret.ts';
import { Metrics } from '../metrics/metrics.ts';
import { RedisLink } from '../redis/link.ts';
import { sharingOf } from '../sharing/choose.ts';
import { openStore } from './errors.ts';
import type { Given } from './given.ts';
import { openWhenThere } from './waiting.ts';
import { untilWhole } from './whole.ts';

/** How long a start on the embedded store waits for Redis. Without Redis the windows begin in this process. */
const REDIS_CONTACT_MS = 1_000;

const REDIS_AWAY = 'redis is away: this process grants its own share of the rate limits';

const statementLine = ({ queuedMs, ms, ...statement }: StatementStats): object => ({
  requestId: currentWork()?.requestId,
  ...statement,
  queueMs: Math.round(queuedMs * 100) / 100,
  ms: Math.round(ms * 100) / 100,
});

export type Stores = Awaited<ReturnType<typeof openStores>>;

/** Opens and migrates the store, and what is needed for it. If the store is damaged, waits until it is whole. */
export async function openStores(given: Given) {
  const { config, clock, log, opened } = given;
  const metrics = new Metrics();
  const tracer = await openTracing(config, log);
  if (tracer !== null) opened.add(tracer, () => tracer.close());
  const redis = openRedis(config, log);
  if (redis !== null) opened.add(redis, () => redis.close());
  const db = opened.add(await openStoreOf(config, redis, metrics, log), (store) => store.close());
  const sharing = sharingOf(db);
  const locks = sharing.locks(redis);
  await assertWhole(db);
  // On a new cluster, the process that started first takes a while.
  await locks.withLock('migrations', () => migrate(db), config.storeWaitSeconds * 1000);
  const damage = new Damage({ db, clock, log, settle: () => settle(given, db, locks) });
  await damage.look(true);
  const jwtSecret = config.managementJwtSecret ?? ensureManagementSecret(config.dataDir);
  metrics.observeDamage(damage);
  await untilWhole({ config, damage, jwtSecret, metrics, clock, log });
  return { metrics, tracer, redis, db, sharing, locks, damage, jwtSecret };
}

/** Stores what a killed process has begun to store. */
async function settle({ config, clock, log }: Given, db: Database, locks: Locks): Promise<void> {
  const settling = createIngestion({ db, clock, log, locks, maxAgeDays: config.eventMaxAgeDays });
  await settling.start();
  const open = await settling.underway();
  await settling.drain();
  if (open > 0) throw new Error('some events are stored only in part: the store does not take them');
}

/** Loads OpenTelemetry only if traces are wanted. */
async function openTracing({ otlpEndpoint: endpoint }: Config, log: Logger): Promise<Tracer | null> {
  if (endpoint === null) return null;
  const { startTracing } = await import('../tracing/opentelemetry.ts');
  return startTracing({ endpoint, log });
}

/** The embedded store needs nobody else. A server's processes need it and, for their locks, Redis. */
async function openStoreOf(
  { store, storeWaitSeconds: seconds }: Config,
  redis: RedisLink | null,
  metrics: Metrics,
  log: Logger,
): Promise<Database> {
  const open = () =>
    openStore(store, {
      onStatement: (statement) => {
        metrics.statement(statement);
        if (log.isLevelEnabled('debug')) log.debug(statementLine(statement), 'statement');
      },
      onRowsRead: metrics.rowsRead,
    });
  if (store.kind === 'server') return openWhenThere({ at: store.url, open, redis }, { seconds, log });
  await redis?.firstContact(REDIS_CONTACT_MS);
  // It has never been up, so its state has not changed.
  if (redis !== null && redis.state !== 'up') log.warn({ state: redis.state }, REDIS_AWAY);
  return open();
}

function openRedis({ redisUrl }: Config, log: Logger): RedisLink | null {
  if (redisUrl === null) return null;
  return new RedisLink(redisUrl, {
    onChange: (state) => {
      if (state === 'up') log.info({ state }, 'redis is up: rate limits are shared');
      else log.warn({ state }, REDIS_AWAY);
    },
  });
}
