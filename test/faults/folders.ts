import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { removeFolder } from '../../src/remove-folder.ts';
import { type Running, running, type Tenant } from './support.ts';

/* Services on temporary folders, removed after each test. */

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** Runs `end` after the test; the last one added runs first. */
export const atEnd = (end: () => unknown): void => void ended.push(end);

export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'analytics-lifecycle-'));
  atEnd(() => removeFolder(made));
  return made;
}

/** Mounts a file system in memory until the end of the test. */
export function mounted(options: string): string {
  const { path, remove } = mountedFolder(options);
  atEnd(remove);
  return path;
}

/** Mounts a file system in memory. Tests run as root, or in a container that may mount. */
export function mountedFolder(options: string): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'analytics-mounted-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]);
  if (status !== 0) throw new Error(`this test needs to mount a tmpfs (root, CAP_SYS_ADMIN): ${stderr}`);
  return {
    path,
    remove: () => {
      spawnSync('umount', ['-l', path]);
      removeFolder(path);
    },
  };
}

export async function started(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ service: Running; tenant: Tenant }> {
  const service = await running({ ...settings, DATA_DIR: dataDir });
  atEnd(() => service.kill());
  return { service, tenant: await service.newTenant() };
}

export const viewsOf = async (service: Running, { app, key }: Tenant): Promise<number> => {
  const answer = await service.ask(`/api/v1/sessions/pageviews?appId=${app.id}`, { key });
  expect(answer.status).toBe(200);
  return (answer.json as { views: number }[]).reduce((sum, { views }) => sum + views, 0);
};
