import { expect, test } from 'vitest';
import { z } from 'zod';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { askRightly, withService } from './cases.ts';
import { DOCUMENTED, documentedSchema, likeExample } from './openapi-support.ts';
import { AT_NOON } from './sample.ts';
import type { Answer } from './support.ts';

// At noon, for ever: what authentication remembers does not age.
const service = withService(AT_NOON);
const OPERATIONS = ENDPOINTS.map(({ operationId }) => operationId);

function expectDocumented(operationId: string, status: string, code: string, answer: Answer): void {
  const documented = DOCUMENTED.find((each) => each.operationId === operationId && each.status === status);
  const media = documented?.response.content?.['application/problem+json'];
  expect(String(answer.status)).toBe(status);
  expect(likeExample(answer, service().app)).toEqual(media?.examples?.[code]?.value);
  documentedSchema(media?.schema ?? {}).parse(answer.json);
}

test('every documented 500 and 503: the store lost its tables, the store is away', async () => {
  const { db, metadata, app, key, account } = service();
  // Remembered: who asks, and that the app is theirs.
  await metadata.authenticate(key);
  await metadata.canRead(account, app);
  const tables = await db.query({
    name: 'tables',
    sql: "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'MaterializedView'",
    row: z.object({ name: z.string() }),
  });
  for (const { name } of tables) await db.command('drop', `DROP TABLE IF EXISTS ${name} SYNC`);
  for (const operationId of OPERATIONS) {
    expectDocumented(operationId, '500', 'internal', await askRightly(service(), operationId));
  }
  await db.close();
  for (const operationId of OPERATIONS) {
    expectDocumented(operationId, '503', 'store_unavailable', await askRightly(service(), operationId));
  }
});
