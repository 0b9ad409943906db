import { afterEach, expect, test, vi } from 'vitest';
import { epochMs, MINUTE_MS } from '../../src/domain/time.ts';
import { createRateLimit } from '../../src/http/gate/rate-limit.ts';
import { LocalWindows } from '../../src/http/gate/shared-windows.ts';

afterEach(() => vi.useRealTimers());

test.each([
  ['an hour back', -3_600_000],
  ['an hour ahead', 3_600_000],
])('without Redis, a used up window ends within a minute if the clock is set %s', async (_, byMs) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) });
  const windows = new LocalWindows();
  const wallClock = () => epochMs(Date.now());
  const ask = createRateLimit({ requestsPerMinute: 2, replicas: 1, redis: null, windows, wallClock });
  const passes = async () => (await ask('key')).passes;
  expect([await passes(), await passes(), await passes()]).toEqual([true, true, false]);
  vi.setSystemTime(Date.now() + byMs);
  const { leftMs, remaining } = await ask('key');
  expect({ leftMs, remaining }).toEqual({ leftMs: MINUTE_MS, remaining: 1 });
  expect([await passes(), await passes()]).toEqual([true, false]);
  windows.shutdown();
});
