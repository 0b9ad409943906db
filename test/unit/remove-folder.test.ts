import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { removeFolder } from '../../src/remove-folder.ts';

/** Makes folders with a file, one after the other, for a second. */
const WRITER = `
const { mkdirSync, writeFileSync } = require('node:fs');
const end = Date.now() + 1000;
for (let i = 0; Date.now() < end; i++) {
  try {
    mkdirSync(process.argv[1] + '/part' + i, { recursive: true });
    writeFileSync(process.argv[1] + '/part' + i + '/data', 'x');
  } catch {}
  if (i === 50) console.log('writing');
}`;

test('a folder is removed that another one still writes into', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-remove-'));
  const writer = spawn(process.execPath, ['-e', WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(writer, 'exit');
  await once(createInterface({ input: writer.stdout }), 'line');
  removeFolder(folder);
  await ended;
  removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
  // None is fine.
  removeFolder(folder);
});
