import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { epochMs } from '../../../src/domain/time.ts';
import { consoleReference } from '../../../src/http/console/openapi.ts';
import { operationsOf } from '../../../src/http/docs/reference/documentation.ts';
import { referenceContent } from '../../../src/http/docs/reference/page.ts';
import { LANGUAGES, snippetsOf } from '../../../src/http/docs/reference/snippets.ts';
import { managementLibrary } from '../../../src/management/library.ts';
import { signManagementToken } from '../../../src/management/token.ts';
import { type ManagedService, managedService } from '../../support/management.ts';
import { asTyped, hasPython, snippetRunner } from '../snippets.ts';

const [chapter] = managementLibrary().references.flatMap(({ chapters }) => chapters);
if (chapter === undefined) throw new Error('no management API');
const { document, dialect } = chapter;
const runner = snippetRunner(dialect.variable);

// Each test starts dozens of commands, one after the other.

let service: ManagedService;
let token: string;
/** A backup that was made. */
let backup: string;
beforeAll(async () => {
  service = await managedService();
  // Valid for an hour.
  token = await signManagementToken(service.jwtSecret, () => epochMs(Date.now() + 3_600_000));
  backup = (await managed('/backups', { path: join(runner.folder, 'first') }))['id'] ?? '';
  await isMade(backup);
});
afterAll(async () => {
  await service.close();
  runner.remove();
});

async function post(path: string, body: unknown, key = token): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, string>;
}

const managed = (path: string, body: unknown) => post(`${service.managementUrl}/management/v1${path}`, body);

/** An account with an app, and what the calls change, rotate and delete. */
async function newAccount() {
  const [{ accountId = '' }, { accountId: partner = '' }, { accountId: deleted = '' }] = (await Promise.all(
    ['Acme', 'Partner', 'Gone'].map((name) => managed('/accounts', { name, plan: 'pro' })),
  )) as [Record<string, string>, Record<string, string>, Record<string, string>];
  const { keyId: rotated = '', apiKey } = await managed(`/accounts/${accountId}/keys`, { name: 'a' });
  const { keyId: revoked = '' } = await managed(`/accounts/${accountId}/keys`, { name: 'b' });
  const app = async (host: string): Promise<string> =>
    (await post(`${service.url}/api/v1/apps`, { name: 'Shop', domain: `https://${host}.example` }, apiKey))[
      'id'
    ] ?? '';
  return {
    accountId,
    partner,
    deleted,
    rotated,
    revoked,
    app: await app('shop'),
    deletedApp: await app('gone'),
  };
}
type Made = Awaited<ReturnType<typeof newAccount>>;

/** What a reader enters in the place of the examples. */
const entered = (id: string, made: Made): Readonly<Record<string, string>> => ({
  accountId: made.accountId,
  appId: made.app,
  ...(
    {
      deleteAccount: { accountId: made.deleted },
      deleteApp: { appId: made.deletedApp },
      shareApp: { accountId: made.partner },
      unshareApp: { accountId: made.partner },
      rotateKey: { keyId: made.rotated },
      revokeKey: { keyId: made.revoked },
      getBackup: { id: backup },
    } as Readonly<Record<string, Readonly<Record<string, string>>>>
  )[id],
});

const schemaOf = (schema: object): z.ZodType => {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
};

/** Commands of the service call these: they take or send a file. */
const MOVING = ['exportApp', 'importApp'];
/** These need a batch that the store has refused. They have the form of `revokeKey` and `deleteApp`. */
const SET_ASIDE = ['repeatSetAside', 'dropSetAside'];
/** A link is for a member. */
const FIRST = ['setMember'];
const IDS = operationsOf(document).map(({ operation }) => operation.operationId);
const CALLED = [...FIRST, ...IDS.filter((id) => ![...MOVING, ...SET_ASIDE, ...FIRST].includes(id))];
const CALLS = CALLED.flatMap((id) =>
  operationsOf(document).filter(({ operation }) => operation.operationId === id),
);

async function isMade(id: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const path = `${service.managementUrl}/management/v1/backups/${id}`;
  const state = async () => ((await (await fetch(path, { headers })).json()) as { state: string }).state;
  await vi.waitUntil(async () => (await state()) === 'made', { timeout: 120_000, interval: 100 });
}

test.each(LANGUAGES)('each call of the management API in %s answers as documented', async (language) => {
  if (language === 'Python' && !(await hasPython())) return;
  const made = await newAccount();
  const calls = CALLS.map((placed) => {
    const id = placed.operation.operationId;
    const text = asTyped(
      snippetsOf(document, placed, dialect)[language],
      service.managementUrl,
      entered(id, made),
    )
      // The bodies' examples.
      .replace('/var/backups/analytics', join(runner.folder, language))
      .replace('6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90', made.app);
    return { id, key: token, text };
  });
  const printed = await runner.printed(language, calls);
  expect([...printed.keys()]).toEqual(CALLED);
  for (const { operation } of CALLS) {
    const { operationId, responses } = operation;
    const media = Object.values(responses)[0]?.content?.['application/json'];
    const answer = JSON.parse(printed.get(operationId) ?? '');
    const { success } = schemaOf(media?.schema ?? {}).safeParse(answer);
    expect({ operationId, answer, success }).toMatchObject({ success: true });
  }
  await isMade((JSON.parse(printed.get('beginBackup') ?? '') as { id: string }).id);
});

test('the page has a command and a form for each call without a file', async () => {
  const page = await (await fetch(`${service.managementUrl}/docs`)).text();
  for (const id of IDS) {
    const has = [`id="${id}-curl"`, `aria-label="Try ${id}"`].map((text) => page.includes(text));
    expect([id, has]).toEqual([id, MOVING.includes(id) ? [false, false] : [true, true]]);
  }
});

test("the console's API has no commands: its callers are pages", () => {
  const { title, chapters } = consoleReference();
  expect(referenceContent(title, chapters).markup).not.toMatch(/class="snippet"|curl/);
});
