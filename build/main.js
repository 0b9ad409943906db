import { build, buildIfNeeded } from './build.js';

// `node build/main.js [--if-needed]`
try {
  await (process.argv.includes('--if-needed') ? buildIfNeeded() : build());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
