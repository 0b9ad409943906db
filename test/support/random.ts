import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import { AppError } from '../../src/domain/errors.ts';
import { byChance } from './chance.ts';

const TESTS = fileURLToPath(new URL('../', import.meta.url));
/** Holds one file for each test file that failed: `test/failures/store-sealing-a.json`. */
const folder = (): string => process.env['TEST_FAILURES'] ?? join(TESTS, 'failures');
const LONGEST_CASE = 20_000;

/** A failing case. It can be repeated as long as the generators stay the same. */
const Failure = z.object({
  test: z.string(),
  seed: z.number(),
  path: z.string(),
  /**
   * `wrong`: an expectation was not met. `refused`: the service answered 503. `broken`: anything else was
   * thrown.
   */
  kind: z.enum(['wrong', 'refused', 'broken']),
  at: z.string(),
  error: z.string(),
  case: z.string(),
});
type Failure = z.infer<typeof Failure>;

export interface RandomOptions {
  /** The number of cases; default: 100. */
  readonly runs?: number;
  /** True: a failing case is shrunk, which takes many runs. */
  readonly shrinks?: boolean;
}

/**
 * Expects `work` to hold for random cases. The first failing case is printed at once and stored in a file,
 * before it is shrunk. Stored cases of the current test run first, and leave the file when they pass.
 */
export async function forAll<Case>(
  cases: fc.Arbitrary<Case>,
  work: (value: Case) => void | Promise<void>,
  { runs = 100, shrinks = true }: RandomOptions = {},
): Promise<void> {
  const kept = failuresOf(currentTest());
  for (const { seed, path } of kept.list()) {
    // `check` would also run the cases after it.
    for (const value of fc.sample(cases, { seed, path, numRuns: 1 })) {
      try {
        await work(value);
      } catch (error) {
        kept.add(described({ seed, path }, error, value));
        throw error;
      }
    }
    kept.remove(seed);
  }
  const seed = byChance(2 ** 31);
  let [begun, hasFailed] = [0, false];
  const property = fc.asyncProperty(cases, async (value) => {
    const index = begun++;
    try {
      await work(value);
    } catch (error) {
      if (!hasFailed && !fc.PreconditionFailure.isFailure(error)) {
        hasFailed = true;
        kept.add(described({ seed, path: String(index) }, error, value));
      }
      throw error;
    }
  });
  const details = await fc.check(property, { seed, numRuns: runs, endOnFailure: !shrinks });
  if (!details.failed) return;
  if (details.counterexamplePath === null) throw new Error(fc.defaultReportMessage(details));
  const smallest = { seed, path: details.counterexamplePath };
  if (shrinks) kept.add(described(smallest, details.errorInstance, details.counterexample[0]));
  throw details.errorInstance;
}

function described({ seed, path }: Pick<Failure, 'seed' | 'path'>, error: unknown, value: unknown): Failure {
  return {
    test: currentTest().name,
    seed,
    path,
    kind: kindOf(error),
    at: new Date().toISOString(),
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    case: fc.stringify(value).slice(0, LONGEST_CASE),
  };
}

function kindOf(error: unknown): Failure['kind'] {
  if (error instanceof AppError) return error.status === 503 ? 'refused' : 'broken';
  return error instanceof Error && error.name === 'AssertionError' ? 'wrong' : 'broken';
}

interface CurrentTest {
  readonly name: string;
  readonly file: string;
}

function currentTest(): CurrentTest {
  const { currentTestName: name = '', testPath = '' } = expect.getState();
  return {
    name,
    file: relative(TESTS, testPath)
      .replace(/\.test\.ts$/, '')
      .replaceAll('/', '-'),
  };
}

/** The stored failures of one test. Its file holds those of all tests of one test file. */
function failuresOf({ name, file }: CurrentTest) {
  const path = join(folder(), `${file}.json`);
  const ofAll = (): Failure[] => {
    try {
      return z.array(Failure).parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      return [];
    }
  };
  const isSame = (failure: Failure, seed: number): boolean => failure.test === name && failure.seed === seed;
  const write = (failures: readonly Failure[]): void => {
    mkdirSync(dirname(path), { recursive: true });
    if (failures.length === 0) rmSync(path, { force: true });
    else writeFileSync(path, `${JSON.stringify(failures, null, 2)}\n`);
  };
  return {
    list: () => ofAll().filter(({ test }) => test === name),
    /** Replaces the entry of the same seed. */
    add: (failure: Failure) => {
      write([...ofAll().filter((other) => !isSame(other, failure.seed)), failure]);
      process.stderr.write(
        `\n${failure.kind}: ${name}, seed ${failure.seed}, path ${failure.path}, kept in ${path}\n${failure.error}\n${failure.case}\n\n`,
      );
    },
    remove: (seed: number) => write(ofAll().filter((other) => !isSame(other, seed))),
  };
}
