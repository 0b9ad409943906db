import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addAdminCommands, adminCall } from '../../src/cli/admin-line.ts';
import { CliError } from '../../src/cli/cli-error.ts';
import { CommandLine } from '../../src/cli/command-line.ts';

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
  [`account rename --account ${id} --name Acme`, 'PUT', `/accounts/${id}/name`, { name: 'Acme' }],
  [`account delete --yes --account ${id}`, 'DELETE', `/accounts/${id}`, undefined],
  [`key create --account ${id} --name CI`, 'POST', `/accounts/${id}/keys`, { name: 'CI' }],
  ['app list', 'GET', '/apps', undefined],
  [
    `app create --account ${id} --name Shop --domain https://shop.example`,
    'POST',
    `/accounts/${id}/apps`,
    { name: 'Shop', domain: 'https://shop.example' },
  ],
  [`app export --app ${id}`, 'GET', `/apps/${id}/export`, undefined],
  [`visitor erase --app ${id} --visitor v-1`, 'POST', `/apps/${id}/visitor-erasures`, { visitorId: 'v-1' }],
  ['app import', 'POST', '/app-imports?', undefined],
  [`app import --as-new --account ${id}`, 'POST', `/app-imports?accountId=${id}&asNew=true`, undefined],
  [`app list --account ${id}`, 'GET', `/accounts/${id}/apps`, undefined],
  ['share list', 'GET', '/shares', undefined],
  [`share list --app ${id}`, 'GET', `/apps/${id}/shares`, undefined],
  [`share list --account ${id}`, 'GET', `/accounts/${id}/shares`, undefined],
])('admin %s', (line, method, path, body) => {
  const call = adminCall(line.split(' '));
  expect([call.method, call.path]).toEqual([method, path]);
  expect(call.body && JSON.parse(JSON.stringify(call.body))).toEqual(body);
});

const HELP = 'Add --help to see the usage.';
test.each([
  ['account create', `Required option '--name <text>' not specified. ${HELP}`],
  ['account create --name=', `Option '--name <text>' argument '' is invalid. It is empty. ${HELP}`],
  ['account create --name', `Option '--name <text>' argument missing. ${HELP}`],
  ['account create --name x --title x', `Unknown option '--title'. ${HELP}`],
  [
    `share list --app ${id} --account ${id}`,
    `Option '--app <app>' cannot be used with option '--account <account>'. ${HELP}`,
  ],
  [`key list --account ${id} --yes`, `Unknown option '--yes'. ${HELP}`],
  [
    'account create --name a --name b',
    `Option '--name <text>' argument 'b' is invalid. It is given more than once. ${HELP}`,
  ],
  [
    'account create --name a Acme',
    `Too many arguments for 'create'. Expected 0 arguments but got 1. ${HELP}`,
  ],
  ...['24', '1.5h'].map((time): [string, string] => [
    `key rotate --key ${id} --overlap ${time}`,
    `Option '--overlap <time>' argument '${time}' is invalid. It must be a number with a unit, such as 8s, 30m, 24h or 7d. ${HELP}`,
  ]),
])('admin %s is refused with an exact message', (line, message) => {
  expect(() => adminCall(line.split(' '))).toThrow(new CliError(message));
});

test.each(['constructor', 'account', 'account destroy', 'list account', 'key help me'])(
  '%s is no command',
  (line) => {
    expect(() => adminCall(line.split(' '))).toThrow(/^(Unknown command|Say a command: one of create, )/);
  },
);

test('each command says what it does, has an example that it accepts, and a sentence for each option', () => {
  const admin = new CommandLine('admin');
  addAdminCommands(admin, () => undefined);
  const groups = admin.commands.filter((command) => command.commands.length > 0);
  const singles = admin.commands.filter((command) => command.commands.length === 0);
  const commands = [...groups.flatMap((group) => group.commands), ...singles];
  expect(commands.length).toBeGreaterThan(20);
  for (const command of commands) {
    expect(command.description(), command.name()).toMatch(/\.$/);
    for (const option of command.options) expect(option.description, option.flags).toMatch(/^[A-Za-z].*\.$/);
    let help = '';
    command
      .configureOutput({
        writeOut: (text) => {
          help += text;
        },
      })
      .outputHelp();
    const [, example = ''] = /\nExample:\n {2}admin (.*?)(?: [<>] \S+)?\n$/.exec(help) ?? [];
    const words = example.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [];
    const name = singles.includes(command) ? [command.name()] : [command.parent?.name(), command.name()];
    expect(words.slice(0, name.length)).toEqual(name);
    expect(() => adminCall(words)).not.toThrow();
  }
});
