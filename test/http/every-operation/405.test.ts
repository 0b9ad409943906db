import { expect, test } from 'vitest';
import { askRightly, READING, withService } from '../operations.ts';
import { endpointOf, expectProblem } from '../support.ts';

const service = withService();

test.each(READING)('%s: other methods; Allow names the allowed ones', async (operationId) => {
  const tenant = await service().newTenant();
  const { path } = endpointOf(operationId);
  const allow = path === '/api/v1/apps' ? 'GET, HEAD, POST' : 'GET, HEAD';
  const others = ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', ...(allow.includes('POST') ? [] : ['POST'])];
  for (const method of others) {
    const answer = await askRightly(tenant, operationId, { method, query: '&other=1' });
    expectProblem(answer, 'method_not_allowed');
    expect(answer.headers['allow']).toBe(allow);
    expect(answer.headers['x-ratelimit-limit']).toBe('120');
  }
  expectProblem(await askRightly(tenant, operationId, { method: 'DELETE', key: null }), 'unauthorized');
});
