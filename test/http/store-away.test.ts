import { expect, test } from 'vitest';
import { askRightly, withService } from './cases.ts';
import { expectProblem } from './support.ts';

const service = withService();

test('503 when the store does not answer; the process itself is well', async () => {
  // What authentication needs is remembered for a moment, and an answer while nothing is written; other questions are not.
  expect((await askRightly(service(), 'listPageviews')).status).toBe(200);
  await service().db.close();
  for (const path of ['/readyz', `/api/v1/sessions/timespent?appId=${service().app}`]) {
    const answer = await service().ask(path);
    expectProblem(answer, 'store_unavailable');
    expect(answer.text).not.toMatch(/select|clickhouse|\bchdb\b|events/i);
  }
  expect((await service().ask('/healthz')).status).toBe(200);
});
