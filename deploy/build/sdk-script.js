import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ENTRY = fileURLToPath(new URL('../../src/sdk/script.ts', import.meta.url));

/** Bundles the SDK into one self-contained classic script, for browsers from 2020 on. */
export async function sdkScript() {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2020',
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles.map((file) => file.text).join('');
}
