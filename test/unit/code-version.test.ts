import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'code-version-'));
/** The function of a copy of the program, whose files the test changes. */
let codeVersion: () => string;

beforeAll(async () => {
  for (const part of ['src', 'clickhouse', 'package.json'])
    cpSync(part, join(root, part), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  codeVersion = await versionFrom('src/http/answer/code-version.ts');
});
afterAll(() => rmSync(root, { recursive: true }));

async function versionFrom(path: string): Promise<() => string> {
  const module = await import(pathToFileURL(join(root, path)).href);
  return module.codeVersion;
}

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));

test('every file of the program and every migration is part of the version', () => {
  const before = codeVersion();
  const versions = new Set([before]);
  const files = [...filesIn('src'), ...filesIn('clickhouse/migrations'), 'package.json'];
  for (const file of files) {
    const path = join(root, file);
    const content = readFileSync(path);
    appendFileSync(path, ' ');
    versions.add(codeVersion());
    writeFileSync(path, content);
  }
  expect(files).toEqual(
    expect.arrayContaining(['src/facts/seal.ts', 'clickhouse/migrations/0004_facts.sql']),
  );
  expect(versions.size).toBe(files.length + 1);
  expect(codeVersion()).toBe(before);
});

test('an added, deleted or renamed file changes the version; the path of the tree does not', async () => {
  const before = codeVersion();
  const path = join(root, 'src/facts/new.ts');
  writeFileSync(path, '');
  const withNew = codeVersion();
  rmSync(path);
  writeFileSync(join(root, 'src/facts/newer.ts'), '');
  const withNewer = codeVersion();
  rmSync(join(root, 'src/facts/newer.ts'));
  expect(new Set([before, withNew, withNewer]).size).toBe(3);
  const { codeVersion: ofThisTree } = await import('../../src/http/answer/code-version.ts');
  expect(before).toBe(ofThisTree());
});

test('compiled, the version is that of the compiled files and the migrations', async () => {
  for (const file of filesIn('src').filter((each) => each.endsWith('.ts'))) {
    const { code } = await transform(readFileSync(join(root, file), 'utf8'), { loader: 'ts', format: 'esm' });
    const compiled = join(root, 'dist', relative('src', file).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(compiled), { recursive: true });
    writeFileSync(compiled, code.replaceAll(/(from "\..*)\.ts"/g, '$1.js"'));
  }
  const compiledVersion = await versionFrom('dist/http/answer/code-version.js');
  const versions = [compiledVersion()];
  for (const file of ['dist/facts/seal.js', 'clickhouse/migrations/0004_facts.sql']) {
    appendFileSync(join(root, file), ' ');
    versions.push(compiledVersion());
  }
  expect(new Set(versions).size).toBe(3);
  for (const file of ['dist/facts/seal.js.map', 'dist/facts/seal.d.ts']) {
    writeFileSync(join(root, file), file);
    expect(compiledVersion()).toBe(versions.at(-1));
  }
  appendFileSync(join(root, 'src/facts/seal.ts'), ' ');
  expect(compiledVersion()).toBe(versions.at(-1));
});
