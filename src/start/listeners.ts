import { join } from 'node:path';
import { isLoopback } from '../domain/host.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type ConsoleParts, createConsole } from '../http/console/console.ts';
import { Bodies } from '../http/forms/bodies.ts';
import { createFailedAttempts, type FailedAttempts } from '../http/gate/failed-attempts.ts';
import { watchOverload } from '../http/gate/overload.ts';
import { sdkEventsRouter } from '../http/routes/sdk-events.ts';
import { sdkScriptRouter } from '../http/routes/sdk-script.ts';
import { messagesOf } from '../http/server/messages.ts';
import { createHttpServer } from '../http/server/server.ts';
import { createManagementApp } from '../management/app.ts';
import { backupRouter } from '../management/backup.ts';
import { damageRouter } from '../management/damage.ts';
import { importRouter } from '../management/import.ts';
import { ingestionRouter } from '../management/ingestion.ts';
import { peopleRouter } from '../management/people.ts';
import { sealRouter } from '../management/seal.ts';
import { transferRouter } from '../management/transfer.ts';
import { visitorRouter } from '../management/visitors.ts';
import { createApp } from './app.ts';
import type { Given } from './given.ts';
import type { Parts } from './parts.ts';
import type { Stores } from './stores.ts';
import { listenAll } from './whole.ts';

/** What the listeners know of the whole service. */
interface Around {
  readonly failedAttempts: FailedAttempts;
  readonly isDraining: () => boolean;
  /** Where the console is; null without one. */
  readonly consoleUrl: () => string | null;
}

/** Serves both ports. */
export async function openListeners(
  given: Given,
  stores: Stores,
  parts: Parts,
): Promise<{ readonly url: string; readonly managementUrl: string }> {
  const { config, clock, log, before, opened } = given;
  let draining = false;
  let publicUrl = '';
  const around: Around = {
    failedAttempts: createFailedAttempts(clock),
    isDraining: () => draining,
    consoleUrl: () => (config.console === null ? null : (config.dashboardUrl ?? publicUrl)),
  };
  const management = managementOf(given, stores, parts, around);
  const app = publicAppOf(given, stores, parts, around);
  const servers = [app, management].map((listener) =>
    createHttpServer(listener === app ? before(app) : listener, {
      messages: messagesOf(listener),
      clock,
      log,
      isDraining: around.isDraining,
      // The management listener is not behind the proxies.
      trustedProxies: listener === management ? 0 : config.trustProxy,
      slowMs: config.slowRequestMs,
      // An exported app that is imported may be large.
      ...(listener === management ? { longestRequestMs: HOUR_MS } : {}),
      tracer: stores.tracer,
      onServed: stores.metrics.request,
    }),
  );
  opened.add(servers, async () => {
    draining = true;
    parts.live.endAll();
    await Promise.all(servers.map((server) => server.finish()));
  });
  const [url = '', managementUrl = ''] = await listenAll(servers, config);
  publicUrl = url;
  log.info({ url, managementUrl, store: config.store.kind }, 'listening');
  return { url, managementUrl };
}

function managementOf(
  { config, clock, log }: Given,
  { db, locks, metrics, damage, jwtSecret }: Stores,
  { metadata, ingestion, erasures, backups, sealer, forgetting }: Parts,
  { consoleUrl }: Around,
) {
  const [spool, onErased] = [join(config.dataDir, 'transfer'), forgetting.forget];
  return createManagementApp({
    metadata,
    jwtSecret,
    clock,
    log,
    metrics,
    routers: [
      peopleRouter({ metadata, consoleUrl }),
      importRouter({ metadata, ingestion }),
      transferRouter({ db, metadata, ingestion, locks, spool, onErased }),
      visitorRouter({ metadata, erasures }),
      ingestionRouter(ingestion),
      backupRouter(backups),
      sealRouter(sealer),
      damageRouter(damage),
    ],
  });
}

function publicAppOf(given: Given, stores: Stores, parts: Parts, around: Around) {
  const { config, clock, wallClock, log, windows, opened } = given;
  const { db, redis, sharing, metrics, damage } = stores;
  const { metadata, ingestion, analytics, snapshots, forgetting, live, sealer } = parts;
  const { failedAttempts, isDraining, consoleUrl } = around;
  const overload = opened.add(watchOverload(), (watch) => watch.close());
  const bodies = opened.add(new Bodies(join(config.dataDir, 'answers')), (files) => files.close());
  // The address of a listener that others reach through a proxy or a container is of no use to them.
  const keysSite = (): string | null =>
    config.dashboardUrl ??
    (config.console === null || isLoopback(config.publicListener.host) ? consoleUrl() : '');
  return createApp({
    config,
    clock,
    wallClock,
    log,
    analytics,
    snapshots,
    forgetting,
    begun: sharing.begun(snapshots),
    bodies,
    access: metadata,
    redis,
    windows,
    failedAttempts,
    overload,
    live,
    people: consoleOf(given, stores, parts, failedAttempts),
    keysSite,
    onCounted: metadata.noteRequest,
    questionsAtOnce: db.questionsAtOnce,
    ping: () => db.ping(),
    isFull: () => db.isFull,
    damage: () => damage.message,
    redisState: () => redis?.state ?? null,
    isDraining,
    onAnswer: metrics.answer,
    onFallback: metrics.fallback,
    sealing: () => sealer.health,
    sdk: [sdkEventsRouter({ access: metadata, ingestion, failedAttempts }), sdkScriptRouter()],
  });
}

/** The console's part of the public listener; null without a console. */
function consoleOf(
  { config, clock, wallClock, windows }: Given,
  { redis, metrics }: Stores,
  { metadata }: Parts,
  failedAttempts: FailedAttempts,
): ConsoleParts | null {
  const { console: people, requestsPerMinute, replicas, dashboardUrl } = config;
  if (people === null) return null;
  return createConsole({
    config: people,
    metadata,
    failedAttempts,
    clock,
    wallClock,
    dashboardUrl,
    requestsPerMinute,
    replicas,
    redis,
    windows,
    onFallback: metrics.fallback,
  });
}
