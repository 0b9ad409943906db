import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { importTestcontainers } from '../../src/testing/testcontainers.ts';

/* Projects with a package of this name, looked up from their own folder alone. */

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function projectWith(version: string | null, index = '', engines?: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'testcontainers-'));
  folders.push(folder);
  if (version === null) return folder;
  const place = join(folder, 'node_modules/testcontainers');
  mkdirSync(place, { recursive: true });
  const manifest = { name: 'testcontainers', version, type: 'module', exports: './index.js', engines };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(place, 'index.js'), index);
  return folder;
}

const NOT_SEEN = Object.assign(new Error("Cannot find package 'testcontainers' imported from x"), {
  code: 'ERR_MODULE_NOT_FOUND',
});
const load = (project: string) =>
  importTestcontainers(() => Promise.reject(NOT_SEEN), join(project, 'x.js'), project);

test('one that the project has is found', async () => {
  expect(await load(projectWith('12.2.0', 'export const GenericContainer = 1;'))).toMatchObject({
    GenericContainer: 1,
  });
});

test('it is looked up beside a file, by its path or its URL', async () => {
  const project = projectWith('12.2.0', 'export const GenericContainer = 1;');
  const elsewhere = projectWith(null);
  for (const file of [join(project, 'x.js'), pathToFileURL(join(project, 'x.js')).href]) {
    const found = importTestcontainers(() => Promise.reject(NOT_SEEN), file, elsewhere);
    await expect(found).resolves.toMatchObject({ GenericContainer: 1 });
  }
});

test('only one that is not there is called missing', async () => {
  await expect(load(projectWith(null))).rejects.toThrow('testcontainers, which is not found. Install it');
});

test('one that does not load says why, and for which Node it is', async () => {
  const broken = "throw new Error('no bind');";
  await expect(load(projectWith('11.9.0', broken))).rejects.toThrow(
    /^testcontainers 11\.9\.0 is installed, but does not load: no bind\. Install it anew, or use startTestService/,
  );
  await expect(load(projectWith('12.2.0', broken, { node: '>= 99.1' }))).rejects.toThrow(
    `That version needs Node 99.1 or later, and this is Node ${process.versions.node}. Install testcontainers 11`,
  );
  await expect(load(projectWith('11.9.0', "import 'some-package-that-is-missing';"))).rejects.toThrow(
    'testcontainers 11.9.0 is installed, but does not load: Cannot find package',
  );
});
