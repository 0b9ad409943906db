import { expectNoArguments } from './cli/arguments.ts';
import { sayEnd } from './cli/cli-error.ts';
import { readConfig } from './config.ts';
import { createLog } from './http/server/log.ts';
import { startService } from './service.ts';

/**
 * Starts the service and ends it on SIGTERM or SIGINT, after the running requests. The process then ends by
 * itself, never through process.exit(). The engine shuts down on another thread after its close() has
 * returned, and an exit at that moment can hang in its exit handlers.
 */
async function main(): Promise<void> {
  expectNoArguments('Usage: npm start. Settings are environment variables, see README.md.');
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel });
  const { close } = await startService(config, { log });
  const stop = async (signal: string): Promise<void> => {
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

main().catch(sayEnd);
