import { beforeAll, expect, test } from 'vitest';
import { oldNode, plainEnv, run } from './commands.ts';

let env: Record<string, string>;

beforeAll(() => {
  env = plainEnv(`${oldNode()}:${process.env['PATH']}`);
});

const SENTENCE =
  /^session-analytics needs Node 20\.19 or later\. This is Node 18\.20\.8 \(\/.*\/bin\/node\)\.\n$/;

test.each([
  ['serve'],
  ['--version'],
  ['admin', 'account', 'list'],
  ['import', 'access.log', '--app', 'shop'],
])('an old Node gets a sentence, not a stack: session-analytics %s', (...args) => {
  const said = run('deploy/bin/session-analytics', args, { cwd: '.', env });
  expect(said).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(SENTENCE) });
});

test.each(['start', 'demo', 'build', 'admin', 'import', 'backup', 'restore', 'migrate', 'bench'])(
  'and so does npm run %s',
  (script) => {
    const said = run('npm', ['run', '--silent', script], { cwd: '.', env });
    expect(said).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(SENTENCE) });
  },
);
