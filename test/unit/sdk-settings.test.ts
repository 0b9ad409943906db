import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every option of init has a comment in its type, and a row in the documentation', () => {
  const [, type = ''] = /export interface Settings \{\n(.*?)\n\}/s.exec(read('src/sdk/settings.ts')) ?? [];
  const options = [...type.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name);
  const explained = [...type.matchAll(/\*\/\n {2}readonly (\w+)\??:/g)].map(([, name = '']) => name);
  expect(options).toContain('appId');
  expect(explained).toEqual(options);
  const rows = read('docs/sdk.md').match(/^\| .*$/gm) ?? [];
  const named = rows.map((row) => row.split('|')[2] ?? '').flatMap((cell) => cell.match(/(?<=`)\w+/g) ?? []);
  expect(named).toEqual(expect.arrayContaining(options));
});
