import { describe, expect, test } from 'vitest';
import { keyId } from '../../../src/domain/ids.ts';
import { epochMs } from '../../../src/domain/time.ts';
import { askRightly, OPERATIONS, withService } from '../operations.ts';
import { type Ask, expectProblem } from '../support.ts';

let callers = 0;
const service = withService({ env: { TRUST_PROXY: '1' } });

describe.each(OPERATIONS)('%s', (operationId) => {
  /** Gives each test its own address, because wrong keys are counted by address. */
  const addressed = () => {
    const from = { 'X-Forwarded-For': `203.0.113.${++callers}` };
    return (ask: Ask) => askRightly(service(), operationId, { ...ask, headers: { ...from, ...ask.headers } });
  };

  test('one and the same body for missing, malformed, unknown, expired and revoked keys', async () => {
    const ask = addressed();
    const { metadata, newAccount, clock } = service();
    const { key, account } = await service().newTenant();
    const revoked = await newAccount();
    const [revokedKey] = await metadata.listKeys(revoked.account);
    await metadata.revokeKey(keyId(revokedKey?.keyId ?? ''));
    const short = await metadata.createKey(account, { expiresAt: epochMs(clock.now().getTime() + 600_000) });
    expect((await ask({ key: short.apiKey })).status).not.toBe(401);
    clock.advance(600_000);
    const asks: Ask[] = [
      { key: null },
      { key: `${key}x` },
      { key: 'service_api_x' },
      { key: revoked.key },
      { key: short.apiKey },
      { key: null, headers: { Authorization: key } },
      { key: null, headers: { Authorization: `Basic ${key}` } },
      { key: null, headers: { Authorization: 'Bearer' } },
      { key: null, headers: { Authorization: `Bearer ${key} ${key}` } },
      { key: null, headers: { Authorization: [`Bearer ${key}`, `Bearer ${key}`] } },
    ];
    const bodies = new Set<string>();
    for (const wrong of asks) {
      const answer = await ask(wrong);
      bodies.add(JSON.stringify({ ...expectProblem(answer, 'unauthorized'), requestId: '' }));
      expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    }
    expect(bodies.size).toBe(1);
  });

  test("an app's secret gets a message of its own", async () => {
    const ask = addressed();
    for (const key of [service().secretKey, 'app_secret_']) {
      const { detail } = expectProblem(await ask({ key }), 'unauthorized');
      expect(detail).toMatch(/SDK credential.*account API key/);
    }
  });

  test('the scheme is case-insensitive', async () => {
    const headers = { Authorization: `bearer ${service().key}` };
    expect((await askRightly(service(), operationId, { key: null, headers })).status).toBeLessThan(300);
  });
});
