import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Restored, restore } from '../backup/restore.ts';
import { type Config, readConfig } from '../config.ts';
import { openStore } from '../start/errors.ts';
import { CliError } from './cli-error.ts';
import { type ClientConfig, managementClient } from './management-client.ts';
import { wallClock } from './wall-clock.ts';

const POLL_MS = 500;
const Begun = z.object({ id: z.string() });
const State = z.looseObject({ state: z.enum(['running', 'made', 'failed']), error: z.string().nullish() });

/** Lets the running service make a backup, and waits for it. */
export async function backupOf(dir: string, config: ClientConfig = readConfig()): Promise<unknown> {
  const client = managementClient(config, wallClock);
  const { id } = Begun.parse(await client.call('POST', '/backups', { path: pathOf(dir, config) }));
  for (;;) {
    const backup = State.parse(await client.call('GET', `/backups/${id}`));
    if (backup.state === 'failed') throw new CliError(`No backup was made. ${backup.error}`);
    if (backup.state === 'made') return backup;
    await sleep(POLL_MS);
  }
}

/** Opens the store itself, as `migrate` does: nothing may use it meanwhile. */
export async function restoreFrom(
  dir: string,
  config: Pick<Config, 'store'> = readConfig(),
): Promise<Restored> {
  const path = pathOf(dir, config);
  if (!/^\/[^\\'\p{Cc}]+$/u.test(path)) {
    throw new CliError('DIR must be an absolute path without quotes and backslashes.');
  }
  const db = await openStore(config.store);
  try {
    return await restore(db, path);
  } finally {
    await db.close();
  }
}

/** A server's paths are its own. */
const pathOf = (dir: string, { store }: Pick<Config, 'store'>): string =>
  store.kind === 'embedded' ? resolve(dir) : dir;
