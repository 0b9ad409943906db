import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { forAll } from '../support/random.ts';

let folder: string;
let printed: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-failures-'));
  vi.stubEnv('TEST_FAILURES', folder);
  printed = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const numbers = fc.integer({ min: 0, max: 1_000_000 });
const kept = (): { kind: string; seed: number; path: string; case: string }[] =>
  readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const below10 = (value: number): void => expect(value).toBeLessThan(10);

test('a failing case is printed and stored before it is shrunk', async () => {
  const known: number[] = [];
  const failing = forAll(numbers, (value) => {
    if (value >= 10) known.push(kept().length);
    below10(value);
  });
  await expect(failing).rejects.toThrow('less than 10');
  expect(known).toEqual(known.map((_, i) => Math.min(i, 1)));
  expect(kept()).toMatchObject([{ kind: 'wrong', case: '10' }]);
  const [{ seed } = { seed: 0 }] = kept();
  expect(printed).toMatch(new RegExp(`^\\nwrong: .*, seed ${seed}, path \\d+, kept in `));
});

test('a stored case runs first, stays while it fails, and leaves the file when it passes', async () => {
  await expect(forAll(numbers, below10)).rejects.toThrow();
  const seen: number[] = [];
  const fails = forAll(numbers, (value) => {
    seen.push(value);
    below10(value);
  });
  await expect(fails).rejects.toThrow();
  expect(seen).toEqual([10]);
  expect(kept()).toHaveLength(1);
  await forAll(numbers, (value) => void seen.push(value), { runs: 3 });
  expect(seen[1]).toBe(10);
  expect(seen).toHaveLength(5);
  expect(readdirSync(folder)).toEqual([]);
});

test('a case that is not shrunk is repeated by its number', async () => {
  const seen: number[] = [];
  const failing = forAll(
    numbers,
    (value) => {
      seen.push(value);
      if (seen.length === 7) throw new Error('the seventh');
    },
    { shrinks: false },
  );
  await expect(failing).rejects.toThrow('the seventh');
  expect(kept()).toMatchObject([{ kind: 'broken', path: '6' }]);
  await forAll(numbers, (value) => void seen.push(value), { runs: 1 });
  expect(seen[7]).toBe(seen[6]);
});

test('a refusal differs from a wrong answer', async () => {
  const failing = forAll(numbers, () => Promise.reject(new AppError('overloaded', 'Not now.')));
  await expect(failing).rejects.toThrow('overloaded');
  expect(kept()).toMatchObject([{ kind: 'refused' }]);
});

test('a case outside the precondition is no failure', async () => {
  await forAll(numbers, (value) => fc.pre(value % 2 === 0), { runs: 20 });
  expect(readdirSync(folder)).toEqual([]);
});
