import { build, buildIfNeeded } from './build.js';

// `node deploy/build/main.js [--if-needed]`
try {
  if (process.argv.includes('--if-needed')) {
    await buildIfNeeded();
  } else {
    await build();
    const { buildPackages } = await import('./packages.js');
    await buildPackages();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
