import { existsSync } from 'node:fs';

// `prepack` of the packages without dependencies, in whose folder npm runs it. The service's own prepack builds all three.
if (!existsSync('dist/index.mjs')) {
  process.stderr.write(
    'This package is not built. Run npm run build in the root of the checkout, then npm pack here.\n',
  );
  process.exitCode = 1;
}
