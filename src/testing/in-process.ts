import { wallClock } from '../cli/wall-clock.ts';
import { readConfig } from '../config.ts';
import { LocalWindows } from '../http/gate/shared-windows.ts';
import { createLog } from '../http/server/log.ts';
import { hashed } from '../redis/keys.ts';
import { type Service, startService } from '../start/service.ts';
import { AdjustableClock } from './clock.ts';
import { Faults } from './faults.ts';
import { directHands } from './hands.ts';
import { dropFolder, embeddedPlace, newFolder } from './place.ts';
import { assertSeed } from './seed-form.ts';
import { Garden } from './seeding.ts';
import { assertFunction, assertMembers, assertSettings } from './strict.ts';
import type { InProcessOptions, InProcessService } from './types.ts';

/** A service in this process with its parts, for this project's own tests. */
export interface OpenService extends InProcessService {
  readonly service: Service;
  /** The folder of everything but the store. */
  readonly dataDir: string;
}

/** Starts a service on free ports, with a store of its own. Leaves nothing behind if it cannot start. */
export async function openService(options: InProcessOptions = {}): Promise<OpenService> {
  assertMembers('the start', options, ['seed', 'now', 'settings', 'onLog']);
  const { seed, now, settings = {}, onLog } = options;
  assertSettings(settings);
  if (seed !== undefined) assertSeed(seed);
  if (onLog !== undefined) assertFunction('onLog', onLog);
  const clock = new AdjustableClock(wallClock);
  if (now !== undefined) clock.set(now);
  const place = embeddedPlace();
  const dataDir = newFolder();
  const remove = (): void => {
    place.remove();
    dropFolder(dataDir);
  };
  try {
    const read = readConfig({ PORT: '0', MANAGEMENT_PORT: '0', DATA_DIR: dataDir, ...settings });
    const config = read.store.kind === 'embedded' ? { ...read, store: place.location } : read;
    const faults = new Faults(config.requestsPerMinute);
    const windows = new LocalWindows();
    const log =
      onLog === undefined
        ? createLog({ level: 'silent' })
        : createLog({
            level: config.logLevel,
            secrets: config.secrets,
            destination: { write: onLog },
          });
    const service = await startService(config, {
      clock: clock.read,
      wallClock,
      log,
      windows,
      before: faults.before,
    });
    const garden = new Garden(directHands(service, clock.read));
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      faults.endAll();
      closing ??= service.close().then(remove);
      return closing;
    };
    const setRateLimit: InProcessService['setRateLimit'] = async (apiKey, window) => {
      assertMembers('a window', window, ['remaining', 'resetSeconds']);
      const { remaining, resetSeconds = 60 } = window;
      const limit = config.requestsPerMinute;
      assertWindow(remaining, resetSeconds, limit);
      if (config.redisUrl !== null) {
        throw new Error('The rate windows are in Redis. Leave REDIS_URL out of the settings to set them.');
      }
      const principal = await service.metadata.authenticate(apiKey);
      if (principal === null)
        throw new Error('The service does not know this API key, or it is revoked or expired.');
      windows.set(hashed(principal.keyId), limit - remaining, wallClock() + resetSeconds * 1000);
    };
    if (seed !== undefined) {
      await garden.plant(seed).catch(async (error: unknown) => {
        await close();
        throw error;
      });
    }
    return {
      service,
      dataDir,
      url: service.url,
      managementUrl: service.managementUrl,
      clock,
      get accounts() {
        return garden.accounts;
      },
      account: (name) => garden.account(name),
      app: (name) => garden.app(name),
      plant: (more) => garden.plant(more),
      record: (app, sessions) => garden.record(app, sessions),
      setRateLimit,
      exhaustRateLimit: (apiKey) => setRateLimit(apiKey, { remaining: 0 }),
      fail: (fault) => faults.add(fault),
      recover: () => faults.endAll(),
      close,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function assertWindow(remaining: number, resetSeconds: number, limit: number): void {
  if (!Number.isInteger(remaining) || remaining < 0 || remaining > limit) {
    throw new Error(
      `remaining must be a whole number from 0 to the limit, which is ${limit}. PUBLIC_API_REQUESTS_PER_MINUTE sets it.`,
    );
  }
  if (!(resetSeconds > 0 && resetSeconds <= 60))
    throw new Error('resetSeconds must be more than 0 and at most 60.');
}
