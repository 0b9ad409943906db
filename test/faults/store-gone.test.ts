import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectProblem } from '../http/support.ts';
import { QUESTIONS, questionPath } from '../support/questions.ts';
import { folder, started } from './folders.ts';
import { INSIDE } from './support.ts';

/* Somebody deletes the folder of the store while the service runs. The engine has kept some of it in memory. */

test.each(['the store', 'the whole data folder'])('without %s each answer is a 503', async (what) => {
  const dataDir = folder();
  const { service, tenant } = await started(dataDir);
  const { app, key } = tenant;
  expect((await service.record(app, ['/a'])).status).toBe(200);
  rmSync(what === 'the store' ? join(dataDir, 'clickhouse') : dataDir, { recursive: true });
  await expect.poll(async () => (await service.ask('/readyz')).status, { timeout: 20_000 }).toBe(503);
  const reads = QUESTIONS.filter(({ operationId }) => operationId !== 'listApps');
  const answers = await Promise.all([
    ...reads.map((question) => service.ask(questionPath(question, app.id), { key })),
    service.record(app, ['/b']),
    service.ask('/api/v1/apps', {
      method: 'POST',
      key,
      body: { name: 'Second', domain: 'https://second.example' },
    }),
  ]);
  for (const answer of answers) {
    expectProblem(answer, 'store_unavailable');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.text).not.toMatch(INSIDE);
  }
  expect((await service.ask('/healthz')).status).toBe(200);
});
