import { readConfig } from './config.ts';
import { createLog } from './http/log.ts';
import { type Service, startService } from './service.ts';

/** Starts the service and ends it on SIGTERM or SIGINT: what runs is finished first. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel });
  const service = await startService(config, { log });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(service, signal));

  async function stop({ close }: Service, signal: string): Promise<void> {
    log.info({ signal }, 'stopping');
    await close();
    log.info('stopped');
    process.exit(0);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
