import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Router } from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ERROR_CODES } from '../../../src/domain/errors.ts';
import { epochMs } from '../../../src/domain/time.ts';
import { backupRouter } from '../../../src/management/backup.ts';
import { damageRouter } from '../../../src/management/damage.ts';
import { importRouter } from '../../../src/management/import.ts';
import { ingestionRouter } from '../../../src/management/ingestion.ts';
import { managementDocument } from '../../../src/management/openapi.ts';
import { peopleRouter } from '../../../src/management/people.ts';
import { metadataRouter } from '../../../src/management/routes.ts';
import { sealRouter } from '../../../src/management/seal.ts';
import { signManagementToken } from '../../../src/management/token.ts';
import { transferRouter } from '../../../src/management/transfer.ts';
import { visitorRouter } from '../../../src/management/visitors.ts';
import { type ManagedService, managedService } from '../../support/management.ts';

let service: ManagedService;
beforeAll(async () => {
  service = await managedService();
});
afterAll(() => service.close());

const DOCUMENT = managementDocument();
const PREFIX = '/management/v1';

interface Asked {
  readonly status: number;
  readonly json: unknown;
}

async function ask(method: string, path: string, body?: unknown): Promise<Asked> {
  const token = await signManagementToken(service.jwtSecret, () => epochMs(Date.now()));
  const response = await fetch(`${service.managementUrl}${PREFIX}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: await response.json() };
}

/** The answer and the body of an operation, as the document has them. */
function documented(operationId: string) {
  for (const [path, methods] of Object.entries(DOCUMENT.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId !== operationId) continue;
      const [status = ''] = Object.keys(operation.responses);
      const media = operation.responses[status]?.content?.['application/json'];
      if (media === undefined) throw new Error(`${operationId} has no answer`);
      const body = operation.requestBody?.content['application/json'];
      return { method: method.toUpperCase(), path, status: Number(status), media, body };
    }
  }
  throw new Error(`no operation ${operationId}`);
}

const schemaOf = (schema: object): z.ZodType => {
  const text = JSON.stringify({ ...schema, $defs: DOCUMENT.components.schemas });
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
};

/** They take or send files. */
const MOVING = ['exportApp', 'importApp'];
const asked = new Set<string>();

/** Asks an operation, and expects the documented status and form. */
async function call(operationId: string, ids: Readonly<Record<string, string>> = {}, body?: unknown) {
  const { method, path, status, media, body: form } = documented(operationId);
  const target = path.replace(PREFIX, '').replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
  const sent = body ?? form?.example;
  if (form !== undefined) schemaOf(form.schema).parse(sent);
  const answer = await ask(method, target, sent);
  expect([operationId, answer.status, answer.json]).toEqual([operationId, status, answer.json]);
  schemaOf(media.schema).parse(answer.json);
  asked.add(operationId);
  return answer.json as Readonly<Record<string, string>>;
}

test('the document is valid OpenAPI 3.1, and its examples fit its schemas', async () => {
  const response = await fetch(`${service.managementUrl}/openapi.json`);
  const served = JSON.parse(await response.text());
  expect(served).toEqual(JSON.parse(JSON.stringify(DOCUMENT)));
  expect(await new Validator().validate(served)).toEqual({ valid: true });
  for (const methods of Object.values(DOCUMENT.paths)) {
    for (const { operationId } of Object.values(methods)) {
      if (MOVING.includes(operationId)) continue;
      const { media, body } = documented(operationId);
      schemaOf(media.schema).parse(media.example);
      if (body !== undefined) schemaOf(body.schema).parse(body.example);
    }
  }
});

test('the routes that are served are those that are documented', async () => {
  const unused = {} as never;
  const routers: Router[] = [
    metadataRouter(unused),
    peopleRouter({ metadata: unused, consoleUrl: () => null }),
    importRouter(unused),
    ingestionRouter(unused),
    sealRouter(unused),
    backupRouter(unused),
    visitorRouter({ metadata: {}, erasures: {} } as never),
    damageRouter(unused),
    transferRouter({ spool: join(service.dataDir, 'of-the-test') } as never),
  ];
  const served = routers.flatMap(({ stack }) =>
    stack.flatMap(({ route }) => (route === undefined ? [] : [route.path])),
  );
  const paths = served.map((path) => `${PREFIX}${path.replace(/:(\w+)/g, '{$1}')}`);
  expect(paths.sort()).toEqual(Object.keys(DOCUMENT.paths).sort());
  for (const [path, methods] of Object.entries(DOCUMENT.paths)) {
    const { json } = await ask('PATCH', path.replace(PREFIX, '').replace(/\{\w+\}/g, randomUUID()));
    const names = Object.keys(methods).map((method) => method.toUpperCase());
    const allowed = names.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    expect([path, json]).toMatchObject([path, { code: 'method_not_allowed' }]);
    const { detail } = json as { detail: string };
    expect([path, detail.slice('This path allows '.length, -1).split(', ').sort()]).toEqual([
      path,
      allowed.sort(),
    ]);
  }
});

test('every operation answers as documented', async () => {
  const { accountId = '' } = await call('createAccount');
  const { accountId: other = '' } = await call('createAccount', {}, { name: 'Partner' });
  const { keyId = '' } = await call('createKey', { accountId });
  const key = await call('rotateKey', { keyId });
  await call('revokeKey', { keyId: key['keyId'] ?? '' });
  const { id: appId = '' } = await call('addApp', { accountId });
  const ids = { accountId, appId, email: 'ada@example.com' };
  await call('shareApp', { appId, accountId: other });
  await call('importHistory', ids);
  await call('rebuildFacts', {}, { appId });
  await service.sealer.run();
  for (const operationId of [
    'setMember',
    'createSignInLink',
    'renameAccount',
    'setPlan',
    'rotateSecret',
    'setRetention',
    'getRetention',
    'setExcludedAddresses',
    'getExcludedAddresses',
    'eraseVisitor',
  ] as const) {
    await call(operationId, ids);
  }
  for (const operationId of [
    'listAccounts',
    'listKeys',
    'listAppsOfAccount',
    'listSharesWithAccount',
    'listAllApps',
    'listShares',
    'listSharesOfApp',
    'listMembers',
    'listAudit',
    'listAuditOfAccount',
    'getIngestion',
    'repeatHeld',
    'listSetAside',
    'getSealing',
    'getLastBackups',
  ]) {
    await call(operationId, ids);
  }
  await call('unshareApp', { appId, accountId: other });
  await call('removeMember', ids);
  await call('endSessions', ids);
  await call('deleteApp', ids);
  await call('deleteAccount', ids);
  const all = Object.values(DOCUMENT.paths).flatMap((methods) =>
    Object.values(methods).map((each) => each.operationId),
  );
  // The tests of these damage a store, put a batch aside, move an app, and make a backup.
  expect(all.filter((id) => !asked.has(id)).sort()).toEqual([
    'acceptDamage',
    'beginBackup',
    'dropSetAside',
    'exportApp',
    'getBackup',
    'getDamage',
    'importApp',
    'repeatSetAside',
  ]);
});

test('the listener explains its own problems, without a token', async () => {
  const refused = await fetch(`${service.managementUrl}${PREFIX}/accounts`);
  const { type } = (await refused.json()) as { type: string };
  const page = await fetch(new URL(type, service.managementUrl));
  expect([page.status, type]).toEqual([200, '/docs/errors#unauthorized']);
  const text = await page.text();
  for (const code of Object.keys(ERROR_CODES)) expect(text).toContain(`id="${code}"`);
  const reference = await (await fetch(`${service.managementUrl}/docs`)).text();
  for (const operationId of asked) expect(reference).toContain(`id="${operationId}"`);
});

test('the public listener says nothing about the management API', async () => {
  for (const path of ['/docs', '/openapi.json', '/docs/errors']) {
    const text = await (await fetch(`${service.url}${path}`)).text();
    expect([path, text.includes('/management/v1')]).toEqual([path, false]);
  }
});
