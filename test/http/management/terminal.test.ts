import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ManagedService, managedService, terminalCommand } from '../../support/management.ts';

let service: ManagedService;

beforeAll(async () => {
  service = await managedService();
});
afterAll(() => service.close());

/** Runs `admin …args` on a terminal of 100 columns, and types `keys` at its first question. */
async function onTerminal(args: readonly string[], keys?: string): Promise<{ code: number; shown: string }> {
  const { command, env } = terminalCommand(service, args);
  const child = spawn('script', ['-qec', `stty cols 100; ${command}`, '/dev/null'], { env });
  let shown = '';
  let typed = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (keys === undefined || typed || !shown.includes('Type ')) return;
    typed = true;
    child.stdin.write(keys);
  });
  const [code] = await once(child, 'close');
  return { code: Number(code), shown: shown.replaceAll('\r\n', '\n') };
}

const account = async (name: string): Promise<string> =>
  (await service.metadata.createAccount({ name, plan: 'pro' })).accountId;

test('results are tables on a terminal, and JSON with --json', async () => {
  const id = await account('Table');
  const list = await onTerminal(['account', 'list']);
  expect(list.shown).toMatch(/^Account id +Name +Plan +Created at\n/);
  expect(list.shown).toMatch(
    new RegExp(`^${id}  Table +pro   \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\dZ$`, 'm'),
  );
  const json = await onTerminal(['account', 'list', '--json']);
  expect(JSON.parse(json.shown)).toMatchObject([{ accountId: id, name: 'Table' }]);
  expect(await onTerminal(['share', 'list'])).toEqual({ code: 0, shown: 'None.\n' });
  const key = await onTerminal(['key', 'create', '--account', id, '--name', 'CI']);
  expect(key.shown).toMatch(/^Key id +[0-9a-f-]{36}\nApi key +service_api_[0-9A-Za-z]{46}\n$/);
  await service.admin(['account', 'delete', '--yes', '--account', id]);
});

test('a deletion says what it deletes, and goes on when its name is typed', async () => {
  const id = await account('Doomed Ltd');
  const { apiKey } = await service.metadata.createKey(id as never, { expiresAt: null });
  const owner = await service.metadata.authenticate(apiKey);
  if (owner === null) throw new Error('a new key is not accepted');
  const app = await service.metadata.createApp(owner, { name: 'Shop', domain: 'https://shop.example' });

  for (const keys of ['shop\n', '\n', '\u0003', '\u0004']) {
    const kept = await onTerminal(['app', 'delete', '--app', app.id], keys);
    expect(kept.shown).toContain(
      'This deletes for good the app Shop (https://shop.example) with all its data.\n',
    );
    expect(kept.shown, JSON.stringify(keys)).toMatch(/Nothing was deleted\.\n$/);
    expect(kept.code).toBe(1);
  }
  expect(await service.metadata.allApps()).toMatchObject([{ id: app.id }]);

  const wrong = await onTerminal(['account', 'delete', '--account', id], 'Doomed\n');
  expect(wrong.shown).toContain(
    'the account Doomed Ltd, its keys, and with all their data the apps\n  Shop (https',
  );
  expect(wrong.code).toBe(1);
  const right = await onTerminal(['account', 'delete', '--account', id.toUpperCase()], 'Doomed Ltd\n');
  expect(right.shown).toMatch(new RegExp(`\nAccount id  ${id}\nDeleted     yes\n$`));
  expect(right.code).toBe(0);
  expect([await service.metadata.listAccounts(), await service.metadata.allApps()]).toEqual([[], []]);
});

test('of something that is not there nothing is asked', async () => {
  const id = randomUUID();
  for (const [args, said] of [
    [['app', 'delete', '--app', id], `--app: There is no app ${id}.\n`],
    [
      ['account', 'delete', '--account', 'x'],
      '--account: There is no account with the name x. "admin account list" shows all.\n',
    ],
    [['set-aside', 'drop', '--id', id], /^(--id: )?No batch is put aside/],
  ] as const) {
    const { code, shown } = await onTerminal(args);
    expect(code).toBe(1);
    if (typeof said === 'string') expect(shown).toBe(said);
    else expect(shown).toMatch(said);
  }
});
