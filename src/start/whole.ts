import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Damage } from '../damage/watch.ts';
import type { Clock } from '../domain/time.ts';
import { createHttpServer, type HttpServer } from '../http/server/server.ts';
import { managementAppOf } from '../management/app.ts';
import { damageRouter } from '../management/damage.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createRefusingApp } from './app.ts';
import { listenFailure } from './errors.ts';

export interface WholeDeps {
  readonly config: Config;
  readonly damage: Damage;
  readonly jwtSecret: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const NOT_SEALING = { lagSeconds: { page: 0, session: 0 }, lastRunAt: null, measuredAt: null };

/**
 * Resolves when the store is whole. Until then, the public listener refuses everything with 503, and the management
 * listener takes the operator's decision. Nothing else runs.
 */
export async function untilWhole({
  config,
  damage,
  jwtSecret,
  metrics,
  clock,
  log,
}: WholeDeps): Promise<void> {
  if (damage.message === null) return;
  const isDraining = (): boolean => false;
  let accepted: () => void = () => undefined;
  const isWhole = new Promise<void>((resolve) => {
    accepted = resolve;
  });
  const refusing = createRefusingApp({
    damage: () => damage.message,
    ping: async () => undefined,
    isFull: () => false,
    redisState: () => null,
    sealing: () => NOT_SEALING,
    isDraining,
    log,
    clock,
  });
  const deciding = managementAppOf({ jwtSecret, clock, log, metrics, routers: [damageRouter(damage)] });
  const servers = [refusing, deciding].map((listener) =>
    createHttpServer(listener, {
      clock,
      log,
      isDraining,
      trustedProxies: listener === deciding ? 0 : config.trustProxy,
      slowMs: config.slowRequestMs,
      onServed: () => {
        if (damage.message === null) accepted();
      },
    }),
  );
  try {
    const [url, managementUrl] = await listenAll(servers, config);
    log.info({ url, managementUrl, store: config.store.kind, refusing: true }, 'listening');
    await isWhole;
  } finally {
    await Promise.all(servers.map((server) => server.finish()));
  }
}

/** Listens on both ports. Rejects with one Error that names the port that cannot be had. */
export async function listenAll(
  servers: readonly HttpServer[],
  { publicListener, managementListener }: Pick<Config, 'publicListener' | 'managementListener'>,
): Promise<string[]> {
  const urls: string[] = [];
  for (const [i, listener] of [publicListener, managementListener].entries()) {
    const server = servers[i];
    if (server === undefined) continue;
    urls.push(
      await server.listen(listener).catch((error: unknown) => {
        throw listenFailure(listener, i === 0 ? 'PORT' : 'MANAGEMENT_PORT', error);
      }),
    );
  }
  return urls;
}
