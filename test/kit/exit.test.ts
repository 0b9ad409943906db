import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

/* A process that ends with an open service. */

const temporary = mkdtempSync(join(tmpdir(), 'kit-exit-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const KIT = new URL('../../src/testing/index.ts', import.meta.url).href;
const left = (): string[] =>
  readdirSync(temporary).filter((name) => name.startsWith('session-analytics-test-'));

async function endOf(work: string) {
  const script = `import { startTestService } from '${KIT}'; const service = await startTestService(); ${work}`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: '' },
    stdio: 'ignore',
  });
  return (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
}

/** Statements run while a service closes. */
test.each([
  ['at once', 'process.exit(3);'],
  ['while it closes', 'service.close(); setTimeout(() => process.exit(3), 5);'],
])('process.exit() %s ends it with its own code, and leaves nothing', async (_, work) => {
  expect(await endOf(work)).toEqual([3, null]);
  expect(left()).toEqual([]);
});

test('the next start removes the folders of a process that was killed, and no others', async () => {
  expect(await endOf("process.kill(process.pid, 'SIGKILL');")).toEqual([null, 'SIGKILL']);
  expect(left()).toHaveLength(2);
  const other = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      '--input-type=module',
      '--eval',
      `import { startTestService } from '${KIT}'; await startTestService(); console.log('up'); setInterval(() => {}, 1000);`,
    ],
    {
      env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  await once(other.stdout, 'data');
  const inUse = left();
  expect(inUse).toHaveLength(2);
  expect(inUse.every((name) => name.includes(`-${other.pid}-`))).toBe(true);
  await endOf('process.exit(0);');
  expect(left()).toEqual(inUse);
  for (const name of inUse) expect(existsSync(join(temporary, name))).toBe(true);
  other.kill('SIGKILL');
  await once(other, 'exit');
});

test('the next start removes the folders from before the machine started anew', async () => {
  await endOf("process.kill(process.pid, 'SIGKILL');");
  // The number of a process that runs: on another start of the machine it was another process.
  const [mine = ''] = left();
  const before = mine.replace(
    /^(session-analytics-test-[0-9a-f]{8})-[0-9a-f]{8}-\d+-\d+-/,
    `$1-00000000-${process.pid}-0-`,
  );
  expect(before).not.toBe(mine);
  const elsewhere = before.replace(/test-[0-9a-f]{8}/, 'test-00000000');
  for (const name of [before, elsewhere]) mkdirSync(join(temporary, name));
  await endOf('process.exit(0);');
  expect(left()).toEqual([elsewhere]);
});
