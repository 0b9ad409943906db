import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const SCRIPTS: Readonly<Record<string, string>> = JSON.parse(readFileSync('package.json', 'utf8')).scripts;

/** Runs the script of package.json. The files that it would open do not exist. */
function run(name: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${SCRIPTS[name]} "$@"`, 'sh', ...args], {
    env: { PATH: process.env['PATH'], DATA_DIR: '/dev/null/nothing', PORT: '0', MANAGEMENT_PORT: '0' },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const USAGES: Readonly<Record<string, RegExp>> = {
  start: /^Usage: npm start\. .*\n$/,
  demo: /^Usage: npm run demo\. .*\n$/,
  migrate: /^Usage: npm run migrate\. .*\n$/,
  openapi: /^Usage: npm run openapi\. .*\n$/,
  admin: /^Usage: admin -- COMMAND, one of\n\naccount create /,
  import: /^Usage: npm run import -- FILE --app ID .*\n$/,
  bench: /^Usage: npm run bench -- queries.*\n\nqueries /,
};

test.each(Object.entries(USAGES))(
  '%s --help prints the usage; another option is refused with it',
  (name, usage) => {
    expect(run(name, '--help')).toEqual({ status: 0, stdout: expect.stringMatching(usage), stderr: '' });
    const wrong = run(name, '--nonsense');
    expect(wrong).toMatchObject({ status: 1, stdout: '' });
    expect(wrong.stderr).toMatch(
      name === 'admin'
        ? /^There is no command "--nonsense": say one of account create, .*\n$/
        : /^Unknown option '--nonsense'\.\s+Usage: npm /,
    );
  },
);

test.each([
  ['bench', 'Name a bench.'],
  ['bench nonsense', 'There is no bench "nonsense".'],
  ['bench queries twice', "Unexpected argument 'twice'."],
  ['bench queries --events 1.5', '--events is a whole number from 1 on, not 1.5.'],
  ['bench queries --days 3', '--days is a whole number from 4 on, not 3.'],
  ['bench http --seconds', "Option '--seconds <value>' argument missing."],
  ['bench scale --dir /dev/null/dir', "--dir: ENOTDIR: not a directory, mkdir '/dev/null/dir'."],
  ['bench soak --json /dev/null/file', "--json: ENOTDIR: not a directory, open '/dev/null/file'."],
  ['import a.log b.log', "Unexpected argument 'b.log'."],
  ['import a.log --app x', "--app needs an app's id."],
])('%s: the error, then the usage', (line, message) => {
  const [name = '', ...args] = line.split(' ');
  const { status, stdout, stderr } = run(name, ...args);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.split(/\s+Usage: npm run /)[0]).toBe(message);
  expect(stderr).not.toMatch(/\n {4}at /);
});
