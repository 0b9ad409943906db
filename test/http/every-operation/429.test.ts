import { expect, test } from 'vitest';
import { askRightly, OPERATIONS, withService } from '../operations.ts';
import { expectProblem } from '../support.ts';

const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '20' } });

test.each(OPERATIONS)(
  '%s: exactly the limit passes, even in parallel; then 429 with the same seconds everywhere',
  async (operationId) => {
    const tenant = await service().newTenant();
    const all = await Promise.all(Array.from({ length: 50 }, () => askRightly(tenant, operationId)));
    const passed = all.filter(({ status }) => status < 300);
    expect(passed).toHaveLength(20);
    expect(new Set(passed.map(({ headers }) => headers['x-ratelimit-remaining'])).size).toBe(20);
    for (const answer of all.filter(({ status }) => status >= 300)) {
      const { retryAfterSeconds } = expectProblem(answer, 'rate_limited');
      expect(retryAfterSeconds).toBeLessThanOrEqual(60);
      expect(answer.headers).toMatchObject({
        'x-ratelimit-limit': '20',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(retryAfterSeconds),
        'retry-after': String(retryAfterSeconds),
      });
    }
    // Only 401 comes before it, and only this key is limited.
    expectProblem(
      await askRightly(tenant, operationId, { query: '&other=1', method: 'PUT' }),
      'rate_limited',
    );
    expectProblem(await askRightly(tenant, operationId, { key: null }), 'unauthorized');
    const other = await service().newAccount();
    const fresh = await askRightly(tenant, operationId, { key: other.key });
    expect(fresh.headers).toMatchObject({ 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '19' });
  },
);
