import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { consoleReference } from '../../src/http/console/openapi.ts';
import { errorsText } from '../../src/http/docs/errors.ts';
import { publicLibrary } from '../../src/http/docs/library.ts';
import { EXAMPLE_APP, EXAMPLES } from '../../src/http/docs/openapi-examples.ts';
import { EXAMPLE_BATCH } from '../../src/http/docs/openapi-service.ts';
import { operationsOf } from '../../src/http/docs/reference/documentation.ts';
import { LANGUAGES, snippetsOf } from '../../src/http/docs/reference/snippets.ts';
import { pagesOf } from '../../src/http/docs/site.ts';
import { likeExample } from './openapi-support.ts';
import { withService } from './operations.ts';
import { AT_NOON, SAMPLE } from './sample.ts';
import { asTyped, hasPython, snippetRunner } from './snippets.ts';
import type { Tenant } from './support.ts';

const service = withService(AT_NOON);
const runner = snippetRunner('KEY');
beforeAll(() => service().record(SAMPLE));
afterAll(() => runner.remove());

const library = publicLibrary([consoleReference()]);
const HTML_PAGES = [...pagesOf(library).keys()].filter((path) => !/\.\w+$/.test(path));

const fetched = new Map<string, string>();
async function pageAt(path: string): Promise<string> {
  const known = fetched.get(path);
  if (known !== undefined) return known;
  const { status, text } = await service().ask(path, { key: null });
  expect([path, status]).toEqual([path, 200]);
  fetched.set(path, text);
  return text;
}

test('docs/errors.md is up to date: `npm run openapi` writes it', () => {
  expect(readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')).toBe(errorsText());
});

test.each(library.references.flatMap(({ chapters }) => chapters.map(({ address }) => address)))(
  '%s is valid OpenAPI 3.1',
  async (address) => {
    const document = JSON.parse(await pageAt(address));
    expect(await new Validator().validate(document)).toEqual({ valid: true });
    expect(document.openapi).toBe('3.1.0');
  },
);

test('the type of every problem is the address of its explanation', async () => {
  const { json } = await service().ask('/nowhere', { key: null });
  const { type, code } = json as { readonly type: string; readonly code: string };
  expect(type).toBe(`/docs/errors#${code}`);
  const page = await pageAt('/docs/errors');
  for (const code of Object.keys(ERROR_CODES)) expect(page).toContain(`<h2 id="${code}">`);
});

test.each(HTML_PAGES)('every link of %s leads to something', async (path) => {
  const links = [...(await pageAt(path)).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href = '']) => href);
  for (const href of new Set(links.filter((link) => !link.startsWith('http')))) {
    const [to = '', id] = href.split('#');
    const page = await pageAt(to === '' ? path : to);
    if (id !== undefined) expect(`${href} ${page.includes(`id="${id}"`)}`).toBe(`${href} true`);
  }
});

test('the search finds what is there', async () => {
  const found = JSON.parse(await pageAt('/docs/search.json')) as { href: string; text: string }[];
  for (const href of found.map((each) => each.href)) {
    const [to = '', id] = href.split('#');
    const page = await pageAt(to);
    if (id !== undefined) expect(`${href} ${page.includes(`id="${id}"`)}`).toBe(`${href} true`);
  }
  const hrefs = found.filter(({ text }) => text.includes('uniqueSessions')).map(({ href }) => href);
  expect(hrefs).toContain('/docs#listPageviews');
});

const CALLS = publicLibrary().references.flatMap(({ chapters }) =>
  chapters.flatMap(({ document, dialect }) =>
    operationsOf(document).map((placed) => ({
      id: placed.operation.operationId,
      snippets: snippetsOf(document, placed, dialect),
    })),
  ),
);

const ofTenant = (text: string, { app, secretKey }: Tenant): string =>
  text
    .replace(service().app, app)
    .replace('app_secret_…', secretKey)
    .replace(EXAMPLE_BATCH.batchId, randomUUID());

/** What can be seen of a call without running it. */
const PYTHON_SHAPE =
  /^import json\nimport os\nimport urllib\.request\n\nrequest = urllib\.request\.Request\(\n {4}"http:[^"]+",\n/;

test.each(LANGUAGES)('each call in %s answers its example', async (language) => {
  const calls = await Promise.all(
    CALLS.map(async ({ id, snippets }) => {
      // It makes an app, so each language has an account of its own for it.
      const key = id === 'createApp' ? (await service().newAccount()).key : service().key;
      const typed = asTyped(snippets[language], service().url).replaceAll(EXAMPLE_APP, service().app);
      // Each language sends the batch for itself, into an app of its own.
      const text = id === 'sendEvents' ? ofTenant(typed, await service().newTenant()) : typed;
      return { id, text, key };
    }),
  );
  if (language === 'Python' && !(await hasPython())) {
    for (const { text } of calls) expect(text).toMatch(PYTHON_SHAPE);
    return;
  }
  const answers = [...(await runner.printed(language, calls))].map(([id, text]): [string, unknown] => [
    id,
    likeExample(
      { status: 200, headers: {}, text: JSON.stringify(JSON.parse(text)), json: JSON.parse(text) },
      service().app,
    ),
  ]);
  const { getReadiness, ...others } = Object.fromEntries(answers);
  expect(others).toEqual({
    ...EXAMPLES,
    sendEvents: { accepted: 2, rejected: [] },
    getHealth: { status: 'ok' },
  });
  expect(getReadiness).toMatchObject({ store: 'ok', status: 'ok', redis: 'off' });
});
