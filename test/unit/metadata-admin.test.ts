import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { adminCall } from '../../src/cli/admin-commands.ts';
import { CliError, HelpAsked } from '../../src/cli/cli-error.ts';

const id = randomUUID();

test.each<[string, string, string, object | undefined]>([
  ['account create --name Acme', 'POST', '/accounts', { name: 'Acme' }],
  ['account create --name Acme --plan pro', 'POST', '/accounts', { name: 'Acme', plan: 'pro' }],
  [`key rotate --key ${id}`, 'POST', `/keys/${id}/rotate`, { overlapSeconds: 0 }],
  [`key rotate --key ${id} --overlap 8s`, 'POST', `/keys/${id}/rotate`, { overlapSeconds: 8 }],
  [`key rotate --key=${id} --overlap=30m`, 'POST', `/keys/${id}/rotate`, { overlapSeconds: 1_800 }],
  [
    `app rotate-secret --overlap 24h --app ${id}`,
    'POST',
    `/apps/${id}/rotate-secret`,
    { overlapSeconds: 86_400 },
  ],
  [
    `app rotate-secret --app ${id} --overlap 7d`,
    'POST',
    `/apps/${id}/rotate-secret`,
    { overlapSeconds: 604_800 },
  ],
  ['app delete --app ../accounts', 'DELETE', '/apps/..%2Faccounts', undefined],
])('admin %s', (line, method, path, body) => {
  const call = adminCall(line.split(' '));
  expect([call.method, call.path]).toEqual([method, path]);
  expect(call.body && JSON.parse(JSON.stringify(call.body))).toEqual(body);
});

const USAGE = 'Usage: admin -- account create --name … [--plan …]';
test.each([
  ['account create', `--name is missing. ${USAGE}`],
  ['account create --name=', `--name is missing. ${USAGE}`],
  ['account create --name', `Option '--name <value>' argument missing. ${USAGE}`],
  ['account create --title x', `Unknown option '--title'. ${USAGE}`],
  ['account create --name a --name b', `--name is given more than once. ${USAGE}`],
  ['account create Acme', `Unexpected argument 'Acme'. ${USAGE}`],
  [
    `key rotate --key ${id} --overlap 24`,
    '--overlap must be a number with a unit, such as 8s, 30m, 24h or 7d.',
  ],
  [
    `key rotate --key ${id} --overlap 1.5h`,
    '--overlap must be a number with a unit, such as 8s, 30m, 24h or 7d.',
  ],
])('admin %s is refused with an exact message', (line, message) => {
  expect(() => adminCall(line.split(' '))).toThrow(new CliError(message));
});

test.each([
  ['--help', /^Usage: admin -- COMMAND, one of\n\naccount create --name … \[--plan …\]\naccount list\n/],
  ['key --help', /^Usage: admin -- COMMAND/],
  ['account create --help', /^Usage: admin -- account create --name … \[--plan …\]$/],
])('admin %s', (line, usage) => {
  const error = thrownBy(() => adminCall(line.split(' ')));
  expect(error).toBeInstanceOf(HelpAsked);
  expect(error).toHaveProperty('message', expect.stringMatching(usage));
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each(['constructor', 'account', 'account destroy', 'list account'])('%s is no command', (line) => {
  expect(() => adminCall(line.split(' '))).toThrow(
    `There is no command "${line}": say one of account create, `,
  );
});
