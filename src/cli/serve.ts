import { readConfig } from '../config.ts';
import { createLog } from '../http/server/log.ts';
import { putEventLoopFirst } from '../start/event-loop-first.ts';
import { startService } from '../start/service.ts';
import { sayEnd } from './cli-error.ts';
import { wallClock } from './wall-clock.ts';

/**
 * Starts the service and ends it on SIGTERM or SIGINT, after the running requests. The process then ends by
 * itself, never through process.exit(). The engine shuts down on another thread after its close() has
 * returned, and an exit at that moment can hang in its exit handlers.
 */
export async function serve(): Promise<void> {
  const config = readConfig();
  const log = createLog({ level: config.logLevel, secrets: config.secrets });
  const { close } = await startService(config, { clock: wallClock, log });
  if (config.store.kind === 'embedded') putEventLoopFirst();
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    await close();
    log.info('stopped');
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop(signal).catch(sayEnd);
    });
  }
}
