import { expect, test } from 'vitest';
import { withService } from '../cases.ts';
import { expectProblem } from '../support.ts';

const service = withService();
const create = (domain: string, key = service().key) =>
  service().ask('/api/v1/apps', { method: 'POST', key, body: { name: 'App', domain } });

test('the same host and port twice in an account, whatever the scheme', async () => {
  for (const domain of ['https://shop.example', 'http://SHOP.example/', 'https://shop.example:443']) {
    expectProblem(await create(domain), 'domain_conflict');
  }
  expect((await create('https://shop.example:8443')).status).toBe(201);
  const other = await service().newAccount();
  expect((await create('https://shop.example', other.key)).status).toBe(201);
});

test('of many at once, one', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => create('https://race.example')));
  expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const answer of all.filter(({ status }) => status !== 201)) expectProblem(answer, 'domain_conflict');
});
