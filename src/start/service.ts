import type { Database } from '../clickhouse/database.ts';
import type { Config } from '../config.ts';
import type { Sealer } from '../facts/sealer.ts';
import { LocalWindows } from '../http/gate/shared-windows.ts';
import { createLog } from '../http/server/log.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { Given, ServiceOptions } from './given.ts';
import { openListeners } from './listeners.ts';
import { Opened } from './opened.ts';
import { openParts } from './parts.ts';
import { openStores } from './stores.ts';

/** A running service; addresses in URL form, without a trailing slash. */
export interface Service {
  readonly url: string;
  readonly managementUrl: string;
  readonly db: Database;
  readonly metadata: Metadata;
  readonly ingestion: Ingestion;
  readonly sealer: Sealer;
  /** Makes /readyz fail, finishes the running work, then closes the store. Can be called again. */
  close(): Promise<void>;
}

/**
 * Opens and migrates the store, connects the parts and listens on both ports. Rejects with one Error that
 * names the part that could not be opened; nothing stays open then.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const opened = new Opened();
  const given: Given = {
    config,
    opened,
    wallClock: options.clock,
    log: options.log ?? createLog({ level: config.logLevel, secrets: config.secrets }),
    windows: new LocalWindows(),
    before: (listener) => listener,
    ...options,
  };
  try {
    const stores = await openStores(given);
    const parts = await openParts(given, stores);
    const urls = await openListeners(given, stores, parts);
    const { metadata, ingestion, sealer } = parts;
    return {
      ...urls,
      db: stores.db,
      metadata,
      ingestion,
      sealer,
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}
