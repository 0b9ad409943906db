import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** False in the package, where the benches are bundled in dist/bench with all that they use of this folder. */
const FROM_SOURCES = import.meta.url.endsWith('.ts');

/** The folder of the repository or of the package. Both this file and dist/bench are two folders below it. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The command line as it is installed: the compiled one. The tests' setup has built it from these sources. */
export const PROGRAM = join(ROOT, 'deploy/bin/session-analytics');

/** Resolves to `PROGRAM` once it is built. */
export async function program(): Promise<string> {
  if (FROM_SOURCES) {
    const { buildIfNeeded } = await import(new URL('../../deploy/build/build.js', import.meta.url).href);
    await buildIfNeeded();
  }
  return PROGRAM;
}

/** Returns Node's arguments for a script in the folder of `caller`, an import.meta.url. The name has no extension. */
export function scriptBeside(caller: string, name: string): { loader: string[]; path: string } {
  const path = fileURLToPath(new URL(`./${name}${FROM_SOURCES ? '.ts' : '.js'}`, caller));
  return { loader: FROM_SOURCES ? ['--import', 'tsx'] : [], path };
}
