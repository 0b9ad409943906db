import { readFileSync } from 'node:fs';

/** The package's version. src and the folder that it is compiled to stand beside package.json. */
export const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { readonly version: string };
