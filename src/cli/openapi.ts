import { writeFileSync } from 'node:fs';
import { openApiText } from '../http/docs/openapi.ts';
import { expectNoArguments } from './arguments.ts';
import { sayEnd } from './cli-error.ts';

/** Writes docs/openapi.json. A test fails if it is out of date. */
try {
  expectNoArguments('Usage: npm run openapi. It writes docs/openapi.json.');
  writeFileSync(new URL('../../docs/openapi.json', import.meta.url), openApiText());
} catch (error) {
  sayEnd(error);
}
