import { expect, test } from 'vitest';
import { openApiText } from '../../src/http/docs/openapi.ts';
import { DOCUMENT_TEXT } from '../http/openapi-support.ts';

test('docs/openapi.json is up to date: `npm run openapi` writes it', () => {
  expect(DOCUMENT_TEXT).toBe(openApiText());
});
