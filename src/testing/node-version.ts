import { createRequire } from 'node:module';

// First of all: an old Node gets a sentence.
createRequire(import.meta.url)('../../deploy/bin/node-version.cjs');
