import { expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import type { Scope } from '../../src/domain/scope.ts';
import { epochMs } from '../../src/domain/time.ts';
import { byScope } from '../../src/snapshots/by-scope.ts';

const SHOP = appId('5e2a4b9e-9d55-4d6c-8d5c-0a5f2a3b7c01');
const BLOG = appId('5e2a4b9e-9d55-4d6c-8d5c-0a5f2a3b7c02');
const until = (to: number): Scope => ({
  events: { from: epochMs(0), to: epochMs(to) },
  sessions: null,
});

test('calls that come while an app is being read share the next statement, one value for each scope', async () => {
  const statements: string[] = [];
  const ends: (() => void)[] = [];
  const read = byScope(async (app, scopes) => {
    statements.push(`${app === SHOP ? 'shop' : 'blog'} ${scopes.map(({ events }) => events?.to)}`);
    await new Promise<void>((resolve) => ends.push(resolve));
    return scopes.map(({ events }) => `until ${events?.to}`);
  });
  const calls = [1, 2, 3, 4, 3].map((to) => read(SHOP, until(to)));
  calls.push(read(BLOG, until(5)));
  expect(statements).toEqual(['shop 1', 'shop 2', 'blog 5']);
  ends[0]?.();
  await calls[0];
  await expect.poll(() => statements).toEqual(['shop 1', 'shop 2', 'blog 5', 'shop 3,4']);
  for (const end of ends) end();
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 3, 5].map((to) => `until ${to}`));
});

test('a value may be null', async () => {
  const read = byScope(async (_, scopes) => scopes.map(() => null));
  expect(await Promise.all([read(SHOP, until(1)), read(SHOP, until(2)), read(SHOP, until(2))])).toEqual([
    null,
    null,
    null,
  ]);
});
