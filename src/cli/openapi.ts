import { writeFileSync } from 'node:fs';
import { errorsText } from '../http/docs/errors.ts';
import { figuresText } from '../http/docs/figures.ts';
import { openApiText } from '../http/docs/openapi.ts';

/** Writes docs/openapi.json, docs/figures.md and docs/errors.md. Tests fail if they are out of date. */
writeFileSync(new URL('../../docs/openapi.json', import.meta.url), openApiText());
writeFileSync(new URL('../../docs/figures.md', import.meta.url), figuresText());
writeFileSync(new URL('../../docs/errors.md', import.meta.url), errorsText());
