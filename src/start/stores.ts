import type { Logger } from 'pino';
import type { Database, StatementStats } from '../clickhouse/database.ts';
import type { Config } from '../config.ts';
import { currentWork } from '../domain/work.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { RedisLink } from '../redis/link.ts';
import { openStore } from './errors.ts';
import { openWhenThere } from './waiting.ts';

/** How long a start on the embedded store waits for Redis. Without Redis the windows begin in this process. */
const REDIS_CONTACT_MS = 1_000;

const REDIS_AWAY = 'redis is away: this process grants its own share of the rate limits';

const statementLine = ({ queuedMs, ms, ...statement }: StatementStats): object => ({
  requestId: currentWork()?.requestId,
  ...statement,
  queueMs: Math.round(queuedMs * 100) / 100,
  ms: Math.round(ms * 100) / 100,
});

/** The embedded store needs nobody else. A server's processes need it and, for their locks, Redis. */
export async function openStoreOf(
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

export function openRedis({ redisUrl }: Config, log: Logger): RedisLink | null {
  if (redisUrl === null) return null;
  return new RedisLink(redisUrl, {
    onChange: (state) => {
      if (state === 'up') log.info({ state }, 'redis is up: rate limits are shared');
      else log.warn({ state }, REDIS_AWAY);
    },
  });
}
