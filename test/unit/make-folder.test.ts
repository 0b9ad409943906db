import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/make-folder.ts';
import { removeFolder } from '../../src/remove-folder.ts';

test('the folders that it makes are for the own user alone', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'analytics-folder-'));
  makeFolder(join(parent, 'a', 'b'));
  for (const made of ['a', 'a/b']) expect(statSync(join(parent, made)).mode & 0o777).toBe(0o700);
  makeFolder(join(parent, 'a', 'b'));
  await removeFolder(parent);
});
