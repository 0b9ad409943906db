import { writeFileSync } from 'node:fs';
import { openApiText } from '../http/docs/openapi.ts';

/** Writes docs/openapi.json. A test fails if it is out of date. */
writeFileSync(new URL('../../docs/openapi.json', import.meta.url), openApiText());
