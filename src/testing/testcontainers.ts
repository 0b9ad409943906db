import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeOf, messageOf } from '../domain/thrown.ts';

export type Testcontainers = typeof import('testcontainers');

const NEEDS = 'SessionAnalyticsContainer needs the package testcontainers';
const ELSE = 'or use startTestService, which needs no Docker engine.';

/**
 * Loads the optional package: the one beside this package, else that of the project whose tests run. (A linked package
 * does not see the latter.) Rejects with an Error that says whether it is missing, or does not load.
 */
export const loadTestcontainers = (): Promise<Testcontainers> =>
  importTestcontainers(() => import('testcontainers'), import.meta.url, process.cwd());

/** `beside`: imports it from `file`, a path or URL. `project`: the folder in which it is looked up then. */
export async function importTestcontainers(
  beside: () => Promise<Testcontainers>,
  file: string,
  project: string,
): Promise<Testcontainers> {
  try {
    return await beside();
  } catch (error) {
    const found = manifestFrom(file) ?? manifestFrom(join(project, 'package.json'));
    if (found === null) {
      throw new Error(
        `${NEEDS}, which is not found. Install it (npm install --save-dev testcontainers), ${ELSE}`,
        { cause: error },
      );
    }
    if (!isMissing(error)) throw notLoaded(found, error);
    try {
      return (await import(pathToFileURL(found.resolve('testcontainers')).href)) as Testcontainers;
    } catch (again) {
      throw notLoaded(found, again);
    }
  }
}

interface Manifest {
  readonly version: string;
  /** The versions of Node that it is for, such as `>= 22.22`. */
  readonly node: string | null;
  readonly resolve: (name: string) => string;
}

/** Finds the package from a file, without running it. */
function manifestFrom(file: string): Manifest | null {
  const require = createRequire(file);
  for (const folder of require.resolve.paths('testcontainers') ?? []) {
    try {
      const { version, engines } = JSON.parse(
        readFileSync(join(folder, 'testcontainers/package.json'), 'utf8'),
      );
      return { version: String(version), node: engines?.node ?? null, resolve: require.resolve };
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** True if the package itself is missing, and not one that it needs. */
const isMissing = (error: unknown): boolean =>
  ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(codeOf(error) ?? '') &&
  /package '?testcontainers'? |module '?testcontainers'?/i.test(messageOf(error));

function notLoaded({ version, node }: Manifest, error: unknown): Error {
  const here = process.versions.node;
  // The first releases of 12 name no version of Node, but their HTTP library needs 22.
  const least = leastOf(node) ?? (Number.parseInt(version, 10) >= 12 ? '22.19' : '0');
  const advice = isBefore(here, least)
    ? `That version needs Node ${least} or later, and this is Node ${here}. Install testcontainers 11 (npm install --save-dev testcontainers@11), ${ELSE}`
    : `Install it anew, ${ELSE}`;
  return new Error(
    `testcontainers ${version} is installed, but does not load: ${messageOf(error)}. ${advice}`,
    {
      cause: error,
    },
  );
}

const leastOf = (node: string | null): string | undefined =>
  /^>=\s*(\d+(?:\.\d+){0,2})$/.exec(node ?? '')?.[1];

function isBefore(version: string, least: string): boolean {
  const [a, b] = [version, least].map((text) => text.split('.').map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
