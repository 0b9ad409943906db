import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleDocument } from '../../src/http/console/openapi.ts';
import { openApiDocument } from '../../src/http/docs/openapi.ts';
import { healthDocument, ingestionDocument } from '../../src/http/docs/openapi-service.ts';
import { managementDocument } from '../../src/management/openapi.ts';
import { envOf, run } from './commands.ts';

// The OpenAPI documents are clean for linters, and make strict types of the answers in generators of TypeScript.

const DOCUMENTS = {
  public: openApiDocument(),
  management: managementDocument(),
  console: consoleDocument(),
  ingestion: ingestionDocument(),
  health: healthDocument(),
};
const TOOLS = resolve('test/packages/generators/node_modules');
const folder = mkdtempSync(join(tmpdir(), 'analytics-openapi-'));
/** The tools need a newer Node than the service. They send nothing about their use. */
const env = { ...envOf('24'), REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

beforeAll(() => {
  if (!existsSync(TOOLS)) throw new Error('Run npm ci --prefix test/packages/generators first.');
  symlinkSync(TOOLS, join(folder, 'node_modules'));
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(document));
  }
  writeFileSync(join(folder, '.spectral.json'), JSON.stringify({ extends: ['spectral:oas'] }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs one of the tools. Expects it to succeed. */
function tool(name: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = run(join(TOOLS, '.bin', name), args, { cwd: folder, env });
  expect({ status, output: status === 0 ? '' : `${stdout}${stderr}` }).toEqual({ status: 0, output: '' });
  return `${stdout}${stderr}`;
}
const files = Object.keys(DOCUMENTS).map((name) => `${name}.json`);

test('Redocly and Spectral find nothing', () => {
  expect(tool('redocly', 'lint', ...files)).not.toMatch(/warning/i);
  const said = tool('spectral', 'lint', '--ruleset', '.spectral.json', '--fail-severity', 'hint', ...files);
  expect(said).toContain('No results');
});

/** Calls `see` with each object inside a value, and its path. */
function walk(value: unknown, path: string, see: (part: object, path: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  see(value, path);
  for (const [name, inner] of Object.entries(value)) walk(inner, `${path}/${name}`, see);
}

// openapi-generator needs a JVM and a file that is not on npm. These are its rules that the others do not have.
test('null stands in the type of a plain value: openapi-generator makes a class of null in anyOf', () => {
  const wrong: string[] = [];
  const nulls: string[] = [];
  walk(DOCUMENTS, '', (part, path) => {
    const { anyOf, type } = part as { anyOf?: readonly { type?: unknown; $ref?: string }[]; type?: unknown };
    if (Array.isArray(type)) nulls.push(path);
    if (anyOf?.some((one) => one.type === 'null') && !anyOf.some(({ $ref }) => $ref)) wrong.push(path);
  });
  expect(wrong).toEqual([]);
  expect(nulls).toContain('/public/components/schemas/PublicDataBoundsDto/properties/oldest');
});

test('openapi-typescript, orval and @hey-api/openapi-ts make the types of the answers, in strict TypeScript', () => {
  tool('openapi-typescript', 'public.json', '--output', 'openapi-typescript.ts');
  const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'];
  tool('openapi-ts', '--input', 'public.json', '--output', 'hey-api', '--plugins', ...plugins, '--silent');
  writeFileSync(
    join(folder, 'orval.config.mjs'),
    `export default { api: { input: 'public.json', output: { target: 'orval/index.ts', client: 'fetch' } } };`,
  );
  tool('orval', '--config', 'orval.config.mjs');
  copyFileSync('test/packages/programs/generated.ts', join(folder, 'generated.ts'));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    paths: { 'session-analytics-client': [resolve('src/client/index.ts')] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['generated.ts'] }));
  tool('tsc', '-p', '.');
});
