import { expect, test } from 'vitest';
import { Persistence } from '../../src/ingestion/retry.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

test('a statement is being repeated from its first failure until it succeeds', async () => {
  const persistence = new Persistence(SILENT);
  const seen: boolean[] = [];
  const statement = async (attempt: number): Promise<string> => {
    seen.push(persistence.isRepeating);
    if (attempt < 2) throw new Error('the store is away');
    return 'stored';
  };
  expect(await persistence.until('store', statement)).toBe('stored');
  expect(seen).toEqual([false, true, true]);
  expect(persistence.isRepeating).toBe(false);
});
