import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { curlLines } from '../demo/curl.ts';
import { prepareDemo } from '../demo/load.ts';
import type { DemoState } from '../demo/state.ts';
import { DEMO_DAYS } from '../demo/visits.ts';
import { createLog } from '../http/server/log.ts';
import { putEventLoopFirst } from '../start/event-loop-first.ts';
import { type Service, startService } from '../start/service.ts';
import { sayEnd } from './cli-error.ts';
import { wallClock } from './wall-clock.ts';

/** The admin command of a checkout, or of the package. */
const ADMIN = import.meta.url.endsWith('.ts') ? 'npm run --silent admin --' : 'npx session-analytics admin';

/**
 * Runs the service on the embedded engine with made-up data. The data have their own folder below DATA_DIR,
 * so that they never mix with real data. A later start keeps them and adds the events that have "happened" since.
 */
export async function demo(): Promise<void> {
  const started = wallClock();
  const config = demoConfig(readConfig());
  const log = createLog({ level: config.logLevel, secrets: config.secrets });
  const service = await startService(config, { clock: wallClock, log });
  putEventLoopFirst();
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    service.close().catch(sayEnd);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);

  const { metadata, ingestion } = service;
  const state = await prepareDemo({
    metadata,
    ingestion,
    clock: wallClock,
    folder: config.dataDir,
    onProgress: progress(started),
  }).catch(async (error: unknown) => {
    // The next start resumes an interrupted load.
    if (stopping) return null;
    await service.close();
    throw error;
  });
  if (state === null) return;
  const consoleLine = await signInLine(service, config, state);
  const seconds = ((wallClock() - started) / 1000).toFixed(1);
  console.log(`
Serving ${DEMO_DAYS} days of made-up data at ${service.url} (ready after ${seconds} s). Stop with Ctrl+C.
${consoleLine}The reference is at ${service.url}/docs. Lines to paste:

${curlLines(service.url, state, wallClock()).join('\n')}

Administration: DATA_DIR=${config.dataDir} MANAGEMENT_PORT=${new URL(service.managementUrl).port} ${ADMIN} account list`);
}

/** A link to the console; nothing without a console. */
async function signInLine(
  { metadata, url }: Service,
  { console: settings, dashboardUrl }: Config,
  { apiKey }: DemoState,
): Promise<string> {
  const account = settings === null ? null : await metadata.authenticate(apiKey);
  if (account === null) return '';
  const { token } = await metadata.createSignInLink(account.accountId, '');
  return `Sign in to the console within 10 minutes (a restart prints another link):
${dashboardUrl ?? url}/dashboard/sign-in#${token}

`;
}

/** Always embedded, and quiet, because the output is for people. */
const demoConfig = (config: Config): Config => {
  const dataDir = join(config.dataDir, 'demo');
  return {
    ...config,
    dataDir,
    store: { kind: 'embedded', dataDir, database: 'analytics' },
    eventMaxAgeDays: Math.max(config.eventMaxAgeDays, DEMO_DAYS + 1),
    logLevel: 'warn',
  };
};

/** Prints a line that is overwritten on a terminal, and a line per tenth elsewhere. */
function progress(started: number): (share: number, events: number) => void {
  let tenth = -1;
  return (share, events) => {
    const seconds = Math.round((wallClock() - started) / 1000);
    const line = `Loading ${DEMO_DAYS} days: ${Math.round(share * 100)} %, ${events.toLocaleString('en')} events, ${seconds} s`;
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${line}${share > 0.995 ? '\n' : ''}`);
    } else if (Math.floor(share * 10) > tenth) {
      tenth = Math.floor(share * 10);
      process.stderr.write(`${line}\n`);
    }
  };
}
