import { writeFileSync } from 'node:fs';
import { openApiText } from '../http/openapi.ts';

/** Writes docs/openapi.json anew; a test tells when that was forgotten. */
writeFileSync(new URL('../../docs/openapi.json', import.meta.url), openApiText());
