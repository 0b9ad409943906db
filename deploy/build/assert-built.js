import { existsSync, readFileSync } from 'node:fs';
import { hashOfPackageSources, STAMP } from './build.js';

// `prepack` of the packages without dependencies, in whose folder npm runs it. The service's own prepack builds all three.
const stamp = `dist/${STAMP}`;
if (!existsSync('dist/index.mjs') || !existsSync(stamp)) {
  refuse('This package is not built.');
} else if (readFileSync(stamp, 'utf8').trim() !== hashOfPackageSources()) {
  refuse('This package was built from other sources than those of the checkout.');
}

/** @param {string} reason */
function refuse(reason) {
  process.stderr.write(`${reason} Run npm run build in the root of the checkout, then npm pack here.\n`);
  process.exitCode = 1;
}
