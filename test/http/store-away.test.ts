import { expect, test } from 'vitest';
import { z } from 'zod';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { DOCUMENTED, documentedSchema, likeExample } from './openapi-support.ts';
import { askRightly, OPERATIONS } from './operations.ts';
import { AT_NOON } from './sample.ts';
import {
  type Answer,
  expectProblem,
  type TestService,
  type TestServiceOptions,
  testService,
} from './support.ts';

/** Runs a test on its own service, whose store it breaks. */
async function onService(
  options: TestServiceOptions,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await testService(options);
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

function expectDocumented(
  operationId: string,
  status: string,
  code: string,
  answer: Answer,
  app: string,
): void {
  const documented = DOCUMENTED.find((each) => each.operationId === operationId && each.status === status);
  const media = documented?.response.content?.['application/problem+json'];
  expect(String(answer.status)).toBe(status);
  expect(likeExample(answer, app)).toEqual(media?.examples?.[code]?.value);
  documentedSchema(media?.schema ?? {}).parse(answer.json);
}

test('every documented 500 and 503: the store lost its tables, the store is away', () =>
  // The clock stands at noon, so cached credentials do not expire.
  onService(AT_NOON, async (service) => {
    const { db, metadata, app, key, account } = service;
    // Caches the caller and its access to the app.
    await metadata.authenticate(key);
    await metadata.canRead(account, app);
    const tables = await db.query({
      name: 'tables',
      sql: sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'MaterializedView'`,
      row: z.object({ name: z.string() }),
    });
    for (const { name } of tables)
      await db.command('drop', sql`DROP TABLE IF EXISTS ${identifier(name)} SYNC`);
    for (const operationId of OPERATIONS) {
      expectDocumented(operationId, '500', 'internal', await askRightly(service, operationId), app);
    }
    await db.close();
    for (const operationId of OPERATIONS) {
      expectDocumented(operationId, '503', 'store_unavailable', await askRightly(service, operationId), app);
    }
  }));

test('503 when the store does not answer; the process itself is well', () =>
  onService({}, async (service) => {
    // Credentials are cached for a moment, and so is an answer while no event comes in. Other questions fail.
    expect((await askRightly(service, 'listPageviews')).status).toBe(200);
    await service.db.close();
    for (const path of ['/readyz', `/api/v1/sessions/timespent?appId=${service.app}`]) {
      const answer = await service.ask(path);
      expectProblem(answer, 'store_unavailable');
      expect(answer.text).not.toMatch(/select|clickhouse|\bchdb\b|events/i);
    }
    expect((await service.ask('/healthz')).status).toBe(200);
  }));
