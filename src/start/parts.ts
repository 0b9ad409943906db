import { createAnalytics } from '../analytics/analytics.ts';
import { Memory } from '../analytics/memory/memory.ts';
import { createBackups } from '../backup/backups.ts';
import { every, type Repeated } from '../domain/every.ts';
import { Forgetting } from '../domain/forgetting.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { createErasures } from '../erasure/erasures.ts';
import { createSealer } from '../facts/sealer.ts';
import { LiveHub } from '../http/live/hub.ts';
import { createCommitted } from '../ingestion/committed.ts';
import { openGeo } from '../ingestion/geo.ts';
import { createIngestion, type Ingestion } from '../ingestion/ingestion.ts';
import { createMetadata, type Metadata } from '../metadata/metadata.ts';
import { createMeasuring } from '../metrics/measured.ts';
import { watchedSealing } from '../metrics/sealing-log.ts';
import { createSnapshots } from '../snapshots/snapshots.ts';
import type { Given } from './given.ts';
import type { Stores } from './stores.ts';

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens what works on the store, and starts the jobs. */
export async function openParts(given: Given, stores: Stores) {
  const { config, clock, log, opened } = given;
  const { db, locks, metrics } = stores;
  const forgetting = new Forgetting();
  const metadata = openMetadata(given, stores, forgetting);
  const snapshots = createSnapshots(db);
  const memory = new Memory(config.factsCacheBytes);
  forgetting.add((app) => memory.forget(app));
  const analytics = createAnalytics({ db, memory });
  const ingestion = await openIngestion(given, stores);

  const ending = new AbortController();
  const { signal } = ending;
  const erasures = createErasures({ db, clock, locks, ingestion, forget: forgetting.forget, signal });
  const erasing = everyMinute(given, 'resume erasures', () => erasures.resume());
  erasing.start();
  opened.add(erasing, () => {
    ending.abort();
    return erasing.end();
  });
  const backups = createBackups({ db, ingestion, clock, log });
  await backups.start();
  opened.add(backups, () => backups.close());
  const sealer = createSealer({
    db,
    clock,
    retentions: metadata.retentionsInForce,
    onExpired: metrics.expired,
    log: watchedSealing(log, metrics.stretch),
    intervalMs: config.sealIntervalMs,
  });
  opened.add(sealer, () => sealer.stop());
  sealer.start();
  const live = opened.add(new LiveHub(createCommitted(db)), (hub) => hub.close());
  opened.repeat(everyMinute(given, 'look for damage', () => lookForDamage(stores, live)));
  observe(given, stores, { ingestion, sealer, backups, live });
  return { forgetting, metadata, snapshots, analytics, ingestion, erasures, backups, sealer, live };
}

const everyMinute = ({ log }: Given, name: string, work: () => Promise<unknown>): Repeated =>
  every({ name, ms: MINUTE_MS, log }, work);

function openMetadata(given: Given, { db, locks }: Stores, { forget }: Forgetting): Metadata {
  const {
    clock,
    opened,
    config: { retentionOfPlans },
  } = given;
  const metadata = createMetadata({ db, clock, locks, onErased: forget, retentionOfPlans });
  opened.add(metadata, () => metadata.close());
  opened.repeat(everyMinute(given, 'resume deletions', () => metadata.resumeDeletions()));
  const keyUses = everyMinute(given, 'write uses of keys', () => metadata.writeKeyUses());
  keyUses.start();
  opened.add(keyUses, async () => {
    await keyUses.end();
    await keyUses.run();
  });
  return metadata;
}

async function openIngestion(
  { config, clock, log, opened }: Given,
  { db, locks, metrics }: Stores,
): Promise<Ingestion> {
  const geo = config.geoipDatabase === null ? null : await openGeo(config.geoipDatabase, log);
  if (geo !== null) opened.add(geo, () => geo.close());
  const ingestion = createIngestion({
    db,
    clock,
    log,
    locks,
    maxAgeDays: config.eventMaxAgeDays,
    onFlush: metrics.flush,
    ...(geo === null ? {} : { geo }),
  });
  opened.add(ingestion, () => ingestion.drain());
  await ingestion.start();
  return ingestion;
}

async function lookForDamage({ damage }: Stores, live: LiveHub): Promise<void> {
  await damage.look(false);
  if (damage.message !== null) live.endAll();
}

/** Lets the metrics see the state of these parts. */
function observe(
  { config, log, opened }: Given,
  { db, redis, metrics }: Stores,
  { ingestion, sealer, backups, live }: Pick<Parts, 'ingestion' | 'sealer' | 'backups' | 'live'>,
): void {
  const measuring = createMeasuring({
    db,
    dataDir: config.dataDir,
    sealStates: () => sealer.states(),
    lastBackups: () => backups.last(),
    ms: config.sealIntervalMs,
    log,
  });
  opened.repeat(measuring);
  metrics.observe({
    ingestion: () => ingestion.stats(),
    sealing: () => sealer.health,
    measured: () => measuring.measured,
    redisState: () => redis?.state ?? null,
    waiting: () => db.waiting,
    streams: () => live.stats,
  });
}
