import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { program } from '../support/program.ts';

const { scripts, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly version: string;
};

beforeAll(async () => void (await program()));

/** Runs a command in a shell. The files that it would open do not exist. */
function run(command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${command} "$@"`, 'sh', ...args], {
    env: { PATH: process.env['PATH'], DATA_DIR: '/dev/null/nothing', PORT: '0', MANAGEMENT_PORT: '0' },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const COMMANDS = ['serve', 'demo', 'migrate', 'admin', 'seal', 'import', 'backup', 'restore', 'bench'];

test.each(COMMANDS)('session-analytics %s: --help prints its usage; another option is refused', (name) => {
  const help = run('deploy/bin/session-analytics', name, '--help');
  expect(help).toMatchObject({ status: 0, stderr: '' });
  expect(help.stdout).toMatch(new RegExp(`^Usage: session-analytics ${name} `));
  expect(help.stdout.length).toBeGreaterThan(150);
  // The commands of a group have examples of their own.
  if (!['admin', 'seal'].includes(name)) expect(help.stdout).toMatch(/\nExamples?:/);
  const wrong = run('deploy/bin/session-analytics', name, '--nonsense');
  expect(wrong).toMatchObject({ status: 1, stdout: '' });
  expect(wrong.stderr).toMatch(
    /^(Unknown option '--nonsense'|Say a command: one of .*|Required option '--app <app>' not specified)\. Add --help .*\n$/,
  );
});

test('session-analytics: its commands, its version, and a refusal of anything else', () => {
  const help = run('deploy/bin/session-analytics', '--help');
  expect(help).toMatchObject({ status: 0, stderr: '' });
  for (const name of COMMANDS) expect(help.stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  expect(run('deploy/bin/session-analytics', '--version').stdout).toBe(`${version}\n`);
  expect(run('deploy/bin/session-analytics')).toEqual({
    status: 1,
    stdout: '',
    stderr: `Say a command: one of ${COMMANDS.join(', ')}. Add --help to see the usage.\n`,
  });
  expect(run('deploy/bin/session-analytics', 'sevre').stderr).toMatch(/^Unknown command 'sevre'.*serve.*\n$/);
});

test.each(['start', 'demo', 'migrate', 'admin', 'import', 'bench'])(
  'npm run %s is the same command',
  (name) => {
    const command = name === 'start' ? 'serve' : name;
    expect(run(scripts[name] ?? '', '--help')).toEqual(
      run('deploy/bin/session-analytics', command, '--help'),
    );
  },
);

test.each([
  [[], 'Usage: npm run release -- VERSION, such as 1.2.0.'],
  [['1.2'], 'Usage: npm run release -- VERSION, such as 1.2.0.'],
  [['0.0.1'], `0.0.1 is before ${version}.`],
  [['999.0.0'], 'CHANGELOG.md has no section "## 999.0.0".'],
])('npm run release %j: one line says what is wrong', (args, line) => {
  expect(run(scripts['release'] ?? '', ...args)).toEqual({ status: 1, stdout: '', stderr: `${line}\n` });
});

test('npm run release refuses each package file that still names the placeholder', () => {
  const PLACEHOLDER = 'repository.invalid';
  const packages = [
    'package.json',
    'deploy/packages/client/package.json',
    'deploy/packages/sdk/package.json',
  ];
  const root = mkdtempSync(join(tmpdir(), 'analytics-release-'));
  try {
    for (const file of ['deploy/build/release.js', ...packages]) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      copyFileSync(file, join(root, file));
    }
    writeFileSync(join(root, 'CHANGELOG.md'), '# Changes\n\n## 999.0.0\n');
    const release = (): string => run(`node ${join(root, 'deploy/build/release.js')}`, '999.0.0').stderr;
    for (const file of packages) {
      expect(release()).toBe(`${file} names the placeholder ${PLACEHOLDER}: set repository and homepage.\n`);
      const text = readFileSync(file, 'utf8').replaceAll(PLACEHOLDER, 'git.example');
      writeFileSync(join(root, file), text);
    }
    // The next check, because the copy is no repository.
    expect(release()).toMatch(/^git tag /);
  } finally {
    rmSync(root, { recursive: true });
  }
});

const A_FOLDER = '/dev/null/dir';
test.each([
  [
    'bench',
    /^Say a command: one of data, queries, scale, http, pollers, ingest, overload, soak, apps, suite, report, compare\./,
  ],
  ['bench nonsense', /^Unknown command 'nonsense'/],
  ['bench queries twice', /^Too many arguments for 'queries'\. Expected 0 arguments but got 1/],
  [
    'bench queries --events 1.5',
    /^Option '--events <N>' .*'1.5' is invalid\. It must be a whole number from 1 on\./,
  ],
  ['bench queries --days 3', /^Option '--days <D>' .*'3' is invalid\. It must be a whole number from 4 on\./],
  ['bench http --seconds', /^Option '--seconds <S>' argument missing\./],
  [`bench scale --dir ${A_FOLDER}`, `--dir: ENOTDIR: not a directory, mkdir '${A_FOLDER}'.`],
  [`bench soak --json ${A_FOLDER}`, '--json: /dev/null is not a folder.'],
  ['bench soak --html /tmp', '--html: /tmp is a folder.'],
  ['bench http --assert fast', /^--assert: 'fast' must have a form such as p99=50ms/],
  ['bench http --url nowhere --key k', /^Option '--url <address>' .* It must be an address such as/],
  [
    'bench http --url http://127.0.0.1 --key k --rate 0',
    /^Option '--rate <number>' .* It must be a number above 0\./,
  ],
  ['bench http --key k', /^--url and --key belong together/],
  ['bench suite --quick --full', 'Say one of --quick and --full.'],
  ['bench scale --url http://127.0.0.1', /^Unknown option '--url'/],
  [
    'bench report nothing.json --html a.html',
    "nothing.json: ENOENT: no such file or directory, open 'nothing.json'",
  ],
  ['bench compare package.json package.json', 'package.json is not a result of session-analytics bench.'],
  ['import a.log', /^Required option '--app <app>' not specified\./],
  [
    'import --format csv',
    /^Option '--format <format>' .*'csv' is invalid\. It must be one of ndjson, combined, caddy, cloudfront, common, main, vhost_combined\./,
  ],
  ['admin key', /^Say a command: one of create, list, rotate, revoke\./],
])('%s: one line says what is wrong', (line, message) => {
  const { status, stdout, stderr } = run('deploy/bin/session-analytics', ...line.split(' '));
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  const [said, ...more] = stderr.split('\n');
  if (typeof message === 'string') expect(said).toBe(message);
  else expect(said).toMatch(message);
  expect(more).toEqual(['']);
});
