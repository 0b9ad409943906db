import { expect, test } from 'vitest';
import { withService } from '../cases.ts';
import { expectProblem } from '../support.ts';

const service = withService();

test('more apps than the plan allows, also in parallel', async () => {
  const { key } = await service().newAccount('free');
  const all = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      service().ask('/api/v1/apps', {
        method: 'POST',
        key,
        body: { name: 'App', domain: `https://a${i}.example` },
      }),
    ),
  );
  expect(all.filter(({ status }) => status === 201)).toHaveLength(3);
  for (const answer of all.filter(({ status }) => status !== 201)) expectProblem(answer, 'plan_blocked');
});

test('a suspended account makes no apps and still lists its own', async () => {
  const { key } = await service().newAccount('suspended');
  const body = { name: 'App', domain: 'https://a.example' };
  expectProblem(await service().ask('/api/v1/apps', { method: 'POST', key, body }), 'plan_blocked');
  expect((await service().ask('/api/v1/apps', { key })).json).toEqual([]);
});
