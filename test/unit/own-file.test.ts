import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readState } from '../../src/demo/state.ts';
import { ensureManagementSecret, managementSecretFile } from '../../src/management/secret.ts';
import { UnusableFile, writeOwnFile } from '../../src/own-file.ts';
import { removeFolder } from '../../src/remove-folder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-own-file-'));
});
afterEach(() => removeFolder(folder));

test.each([
  ['zero bytes', '\0'.repeat(44)],
  ['nothing', ''],
  ['a part', 'abc'],
  ['blanks', ' '.repeat(60)],
  ['binary data', '\x01\xff'.repeat(40)],
])('a secret of %s is not taken for one, and the message says what to do', (_, text) => {
  writeFileSync(managementSecretFile(folder), text);
  expect(() => ensureManagementSecret(folder)).toThrow(UnusableFile);
  expect(() => ensureManagementSecret(folder)).toThrow(
    /is damaged: remove it and start the service again\.$/,
  );
});

test('a folder in the place of a file is named', () => {
  mkdirSync(managementSecretFile(folder));
  expect(() => ensureManagementSecret(folder)).toThrow(
    /is a folder: remove it and start the service again\.$/,
  );
  mkdirSync(join(folder, 'demo.json'));
  expect(() => readState(folder)).toThrow(/demo\.json is a folder: remove .* and start the demo again\.$/);
});

test('a file is written whole, once if it is to be new, and leaves no draft', () => {
  const path = join(folder, 'file');
  expect(writeOwnFile(path, 'a', { isNew: true })).toBe(true);
  expect(writeOwnFile(path, 'b', { isNew: true })).toBe(false);
  expect(writeOwnFile(path, 'c')).toBe(true);
  expect(readdirSync(folder)).toEqual(['file']);
  const secret = ensureManagementSecret(folder);
  expect(ensureManagementSecret(folder)).toBe(secret);
});
