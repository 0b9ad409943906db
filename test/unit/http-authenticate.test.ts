import { expect, test } from 'vitest';
import { isLoopback } from '../../src/domain/host.ts';
import { authenticationByKey } from '../../src/http/gate/authenticate.ts';

/** Returns the message to a request without a key. */
async function messageAt(site: string | null): Promise<unknown> {
  const { authenticate } = authenticationByKey({
    access: { authenticate: async () => null } as never,
    failedAttempts: { record: (_: string, error: Error) => error } as never,
    keysSite: () => site,
  });
  return authenticate({ rawHeaders: [] } as never).catch(({ message }: Error) =>
    message.replace('unauthorized: ', ''),
  );
}

test('a 401 names the page where keys are made, if there is one', async () => {
  const needed = 'A valid account API key is needed: send it as "Authorization: Bearer <key>".';
  expect(await messageAt('https://a.example')).toBe(
    `${needed} Keys are made at https://a.example/dashboard/api-keys.`,
  );
  expect(await messageAt('')).toBe(`${needed} Keys are made at /dashboard/api-keys.`);
  expect(await messageAt(null)).toBe(needed);
});

test('addresses that only this machine reaches', () => {
  expect(['127.0.0.1', 'localhost', '::1', '[::1]'].filter(isLoopback)).toHaveLength(4);
  expect(['0.0.0.0', '::', '10.0.0.7', 'analytics.example'].filter(isLoopback)).toEqual([]);
});
