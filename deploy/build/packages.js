import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import { hashOfPackageSources, STAMP } from './build.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** @satisfies {Readonly<Record<string, import('tsdown').InlineConfig>>} */
const PACKAGES = {
  client: { platform: 'neutral', target: 'es2022', tsconfig: join(ROOT, 'tsconfig.json') },
  sdk: { platform: 'browser', target: 'es2020', tsconfig: join(ROOT, 'src/sdk/tsconfig.json') },
};

/** Bundles the packages without dependencies as ES module and CommonJS, each with one file of declarations. */
export async function buildPackages() {
  const sources = hashOfPackageSources();
  for (const [name, options] of Object.entries(PACKAGES)) {
    const folder = join(ROOT, 'deploy/packages', name);
    await build({
      ...options,
      config: false,
      entry: { index: join(ROOT, 'src', name, 'index.ts') },
      outDir: join(folder, 'dist'),
      format: ['esm', 'cjs'],
      fixedExtension: true,
      dts: true,
      clean: true,
      logLevel: 'warn',
    });
    writeFileSync(join(folder, 'dist', STAMP), `${sources}\n`);
    copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  }
}
