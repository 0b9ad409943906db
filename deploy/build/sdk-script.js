import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ENTRY = fileURLToPath(new URL('../../src/sdk/script.ts', import.meta.url));

/** Bundles the SDK into one self-contained classic script, for browsers from the end of 2020 on. */
export async function sdkScript() {
  const { output } = await build({
    input: ENTRY,
    output: { format: 'iife', minify: true, comments: false },
    transform: { target: 'es2021' },
    write: false,
    logLevel: 'silent',
  });
  return output[0].code;
}
