import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { envOf, NODES, OWN_NODE } from './commands.ts';

const UNIT_TESTS = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--reporter=dot'];

test.for(Object.keys(NODES).filter((version) => version !== OWN_NODE))(
  'the unit tests pass on Node %s',
  async (version) => {
    // Not `expectDone`, which holds this process up: Vitest takes one that is silent for a minute for dead.
    const tested = promisify(execFile)('node', UNIT_TESTS, { env: envOf(version) });
    const { stdout } = await tested.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${stdout}\n${stderr}`);
    });
    expect(stdout).toContain(' passed');
  },
);
