import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { removeFolder } from '../../src/remove-folder.ts';
import { stored } from './ingestion-support.ts';

const CHILD = fileURLToPath(new URL('./handles-child.ts', import.meta.url));

test('batches that come while too few files can be opened are stored later, and none is put aside', async () => {
  const path = mkdtempSync(join(tmpdir(), 'analytics-handles-'));
  try {
    const limited = ['-c', 'ulimit -n 600; exec "$0" --import tsx "$1" "$2"', process.execPath, CHILD, path];
    const { stdout } = await promisify(execFile)('bash', limited);
    const { codes, aside, totals } = JSON.parse(stdout) as Record<'codes' | 'aside' | 'totals', unknown>;
    expect(codes).not.toContain('validation_failed');
    expect(aside).toBe(0);
    expect(totals).toEqual(stored(7, 21));
  } finally {
    await removeFolder(path);
  }
}, 120_000);
