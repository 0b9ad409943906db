import { join } from 'node:path';
import type { Logger } from 'pino';
import { createAnalytics, type SteadyAnalytics } from './analytics/analytics.ts';
import { Memory } from './analytics/memory/memory.ts';
import { createApp } from './app.ts';
import { createBackups } from './backup/backups.ts';
import { assertWhole } from './backup/restore.ts';
import type { Database } from './clickhouse/database.ts';
import { migrate } from './clickhouse/migrate.ts';
import type { Config } from './config.ts';
import { Damage } from './damage/watch.ts';
import { every } from './domain/every.ts';
import { Forgetting } from './domain/forgetting.ts';
import { isLoopback } from './domain/host.ts';
import { type Clock, HOUR_MS, MINUTE_MS } from './domain/time.ts';
import type { Tracer } from './domain/tracing.ts';
import { createErasures } from './erasure/erasures.ts';
import { createSealer, type Sealer } from './facts/sealer.ts';
import { createConsole } from './http/console/console.ts';
import { Bodies } from './http/forms/bodies.ts';
import { createFailedAttempts } from './http/gate/failed-attempts.ts';
import { watchOverload } from './http/gate/overload.ts';
import { LocalWindows } from './http/gate/shared-windows.ts';
import { LiveHub } from './http/live/hub.ts';
import { sdkEventsRouter } from './http/routes/sdk-events.ts';
import { sdkScriptRouter } from './http/routes/sdk-script.ts';
import { createLog } from './http/server/log.ts';
import { messagesOf } from './http/server/messages.ts';
import { createHttpServer, type RequestHandler } from './http/server/server.ts';
import { createCommitted } from './ingestion/committed.ts';
import { openGeo } from './ingestion/geo.ts';
import { createIngestion, type Ingestion } from './ingestion/ingestion.ts';
import { createManagementApp } from './management/app.ts';
import { backupRouter } from './management/backup.ts';
import { damageRouter } from './management/damage.ts';
import { importRouter } from './management/import.ts';
import { ingestionRouter } from './management/ingestion.ts';
import { peopleRouter } from './management/people.ts';
import { sealRouter } from './management/seal.ts';
import { ensureManagementSecret } from './management/secret.ts';
import { transferRouter } from './management/transfer.ts';
import { visitorRouter } from './management/visitors.ts';
import { createMetadata, type Metadata } from './metadata/metadata.ts';
import { createMeasuring } from './metrics/measured.ts';
import { Metrics } from './metrics/metrics.ts';
import { watchedSealing } from './metrics/sealing-log.ts';
import { createBegun } from './snapshots/begun.ts';
import { createSnapshots } from './snapshots/snapshots.ts';
import { locksFor, openRedis, openStoreOf } from './start-stores.ts';
import { listenAll, untilWhole } from './start-whole.ts';

export interface ServiceOptions {
  readonly clock: Clock;
  /** The machine's clock, if `clock` is another one. The rate windows end by it. */
  readonly wallClock?: Clock;
  readonly log?: Logger;
  /** The rate windows in this process, for tests that set them. */
  readonly windows?: LocalWindows;
  /** Puts something in front of the public listener: the demo's page, and tests that make requests fail. */
  readonly before?: (listener: RequestHandler) => RequestHandler;
}

/** A running service; addresses in URL form, without a trailing slash. */
export interface Service {
  readonly url: string;
  readonly managementUrl: string;
  readonly db: Database;
  readonly metadata: Metadata;
  readonly ingestion: Ingestion;
  readonly analytics: SteadyAnalytics;
  readonly sealer: Sealer;
  /** Makes /readyz fail, finishes the running work, then closes the store. Can be called again. */
  close(): Promise<void>;
}

/**
 * Opens and migrates the store, connects the parts and listens on both ports. Rejects with one Error that
 * names the part that could not be opened; nothing stays open then.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { clock } = options;
  const parts = {
    wallClock: clock,
    log: options.log ?? createLog({ level: config.logLevel, secrets: config.secrets }),
    windows: new LocalWindows(),
    before: (listener: RequestHandler) => listener,
    ...options,
  };
  const opened: (() => Promise<void>)[] = [];
  const close = once(async () => {
    for (const end of opened.reverse()) await end();
  });
  try {
    return await start(config, parts, opened, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  config: Config,
  { clock, wallClock, log, windows, before }: Required<ServiceOptions>,
  opened: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<Service> {
  const metrics = new Metrics();
  const tracer = await openTracing(config, log);
  if (tracer !== null) opened.push(() => tracer.close());
  const redis = openRedis(config, log);
  if (redis !== null) opened.push(() => redis.close());
  const db = await openStoreOf(config, redis, metrics, log);
  opened.push(() => db.close());
  const locks = locksFor(db, redis);
  await assertWhole(db);
  // On a new cluster, the process that started first takes a while.
  await locks.withLock('migrations', () => migrate(db), config.storeWaitSeconds * 1000);
  const { eventMaxAgeDays: maxAgeDays } = config;
  const settle = async (): Promise<void> => {
    const settling = createIngestion({ db, clock, log, locks, maxAgeDays });
    await settling.start();
    const open = await settling.underway();
    await settling.drain();
    if (open > 0) throw new Error('some events are stored only in part: the store does not take them');
  };
  const damage = new Damage({ db, clock, log, settle });
  await damage.look(true);
  const jwtSecret = config.managementJwtSecret ?? ensureManagementSecret(config.dataDir);
  metrics.observeDamage(damage);
  await untilWhole({ config, damage, jwtSecret, metrics, clock, log });

  const forgetting = new Forgetting();
  const metadata = createMetadata({
    db,
    clock,
    locks,
    onErased: forgetting.forget,
    retentionOfPlans: config.retentionOfPlans,
  });
  opened.push(() => metadata.close());
  const deletions = every({ name: 'resume deletions', ms: MINUTE_MS, log }, () => metadata.resumeDeletions());
  deletions.start();
  opened.push(() => deletions.end());
  const keyUses = every({ name: 'write uses of keys', ms: MINUTE_MS, log }, () => metadata.writeKeyUses());
  keyUses.start();
  opened.push(async () => {
    await keyUses.end();
    await keyUses.run();
  });
  const snapshots = createSnapshots(db);
  const memory = new Memory(config.factsCacheBytes);
  forgetting.add((app) => memory.forget(app));
  const analytics = createAnalytics({ db, snapshots, memory });
  const geo = config.geoipDatabase === null ? null : await openGeo(config.geoipDatabase, log);
  if (geo !== null) opened.push(() => geo.close());
  const ingestion = createIngestion({
    db,
    clock,
    log,
    locks,
    maxAgeDays,
    onFlush: metrics.flush,
    ...(geo === null ? {} : { geo }),
  });
  opened.push(() => ingestion.drain());
  await ingestion.start();
  const ending = new AbortController();
  const erasures = createErasures({
    db,
    clock,
    locks,
    ingestion,
    forget: forgetting.forget,
    signal: ending.signal,
  });
  const erasing = every({ name: 'resume erasures', ms: MINUTE_MS, log }, () => erasures.resume());
  erasing.start();
  opened.push(async () => {
    ending.abort();
    await erasing.end();
  });
  const backups = createBackups({ db, ingestion, clock, log });
  await backups.start();
  opened.push(() => backups.close());
  const sealer = createSealer({
    db,
    clock,
    retentions: metadata.retentionsInForce,
    onExpired: metrics.expired,
    log: watchedSealing(log, metrics.stretch),
    intervalMs: config.sealIntervalMs,
  });
  opened.push(() => sealer.stop());
  sealer.start();
  const live = new LiveHub(createCommitted(db));
  opened.push(async () => live.close());
  const looking = every({ name: 'look for damage', ms: MINUTE_MS, log }, async () => {
    await damage.look(false);
    if (damage.message !== null) live.endAll();
  });
  looking.start();
  opened.push(() => looking.end());
  const failedAttempts = createFailedAttempts(clock);

  const bodies = new Bodies(join(config.dataDir, 'answers'));
  opened.push(async () => bodies.close());
  const measuring = createMeasuring({
    db,
    dataDir: config.dataDir,
    sealStates: () => sealer.states(),
    lastBackups: () => backups.last(),
    ms: config.sealIntervalMs,
    log,
  });
  opened.push(() => measuring.end());
  measuring.start();
  metrics.observe({
    ingestion: () => ingestion.stats(),
    sealing: () => sealer.health,
    measured: () => measuring.measured,
    redisState: () => redis?.state ?? null,
    waiting: () => db.waiting,
    streams: () => live.stats,
  });
  const overload = watchOverload();
  opened.push(async () => overload.close());

  let draining = false;
  const isDraining = (): boolean => draining;
  let publicUrl = '';
  const consoleUrl = (): string | null =>
    config.console === null ? null : (config.dashboardUrl ?? publicUrl);
  // The address of a listener that others reach through a proxy or a container is of no use to them.
  const keysSite = (): string | null =>
    config.dashboardUrl ??
    (config.console === null || isLoopback(config.publicListener.host) ? consoleUrl() : '');
  const management = createManagementApp({
    metadata,
    jwtSecret,
    clock,
    log,
    metrics,
    routers: [
      peopleRouter({ metadata, consoleUrl }),
      importRouter({ metadata, ingestion }),
      transferRouter({
        db,
        metadata,
        ingestion,
        locks,
        spool: join(config.dataDir, 'transfer'),
        onErased: forgetting.forget,
      }),
      visitorRouter({ metadata, erasures }),
      ingestionRouter(ingestion),
      backupRouter(backups),
      sealRouter(sealer),
      damageRouter(damage),
    ],
  });
  const { requestsPerMinute, replicas, dashboardUrl } = config;
  const people =
    config.console === null
      ? null
      : createConsole({
          config: config.console,
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
  const app = createApp({
    config,
    clock,
    wallClock,
    log,
    analytics,
    snapshots,
    forgetting,
    begun: createBegun({ db, snapshots }),
    bodies,
    access: metadata,
    redis,
    windows,
    failedAttempts,
    overload,
    live,
    people,
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
  const servers = [app, management].map((listener) =>
    createHttpServer(listener === app ? before(app) : listener, {
      messages: messagesOf(listener),
      clock,
      log,
      isDraining,
      // The management listener is not behind the proxies.
      trustedProxies: listener === management ? 0 : config.trustProxy,
      slowMs: config.slowRequestMs,
      // An exported app that is imported may be large.
      ...(listener === management ? { longestRequestMs: HOUR_MS } : {}),
      tracer,
      onServed: metrics.request,
    }),
  );
  opened.push(async () => {
    draining = true;
    live.endAll();
    await Promise.all(servers.map((server) => server.finish()));
  });
  const [url = '', managementUrl = ''] = await listenAll(servers, config);
  publicUrl = url;
  log.info({ url, managementUrl, store: config.store.kind }, 'listening');
  return { url, managementUrl, db, metadata, ingestion, analytics, sealer, close };
}

/** Loads OpenTelemetry only if traces are wanted. */
async function openTracing({ otlpEndpoint: endpoint }: Config, log: Logger): Promise<Tracer | null> {
  if (endpoint === null) return null;
  const { startTracing } = await import('./tracing/opentelemetry.ts');
  return startTracing({ endpoint, log });
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
