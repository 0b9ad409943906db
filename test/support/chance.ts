import { createHash } from 'node:crypto';
import { expect } from 'vitest';

const SEED = process.env['TEST_SEED'];
let [numbers, lastTest] = [0, ''];

/**
 * Returns a whole number from 0 to `below` - 1, by chance. With TEST_SEED, each test gets the same numbers again:
 * `.ci/run` derives it from the code, so that a failure can be repeated and other code gets other cases.
 */
export function byChance(below: number): number {
  if (SEED === undefined) return Math.floor(Math.random() * below);
  const { currentTestName = '', testPath = '' } = expect.getState();
  const test = `${testPath.split('/test/').pop()} ${currentTestName}`;
  numbers = test === lastTest ? numbers + 1 : 0;
  lastTest = test;
  const digest = createHash('sha256').update(`${SEED} ${test} ${numbers}`).digest();
  return digest.readUIntBE(0, 6) % below;
}

/** Returns a seed by chance, and prints it, so that a failed story can be repeated. */
export function printedSeed(of: string): number {
  const seed = byChance(1e9);
  process.stdout.write(`${of}: seed ${seed}\n`);
  return seed;
}
