import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { adminCall } from '../../src/cli/admin-line.ts';

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

test('the guide goes in the order in which one needs it, with ten lines at most for a framework', () => {
  const guide = read('docs/sdk.md');
  expect([...guide.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
    'Paste',
    'Check',
    'Single-page apps',
    'Consent',
    'Own visits',
    'Events and properties',
    'First-party path',
    'Content security policy',
    'What it stores',
    'Delivery',
    'Size',
  ]);
  const [, frameworks = ''] = /^### Frameworks\n(.*?)^## /ms.exec(guide) ?? [];
  const snippets = [...frameworks.matchAll(/^```\w+\n(.*?)\n```$/gms)].map(([, code = '']) => code);
  expect(snippets).toHaveLength(5);
  for (const code of snippets) expect(code.split('\n').length, code).toBeLessThanOrEqual(10);
});

test('the commands of the guide are commands', () => {
  const lines = [...read('docs/sdk.md').matchAll(/^session-analytics admin (.*)$/gm)].map(
    ([, line = '']) => line,
  );
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(() => adminCall(line.split(' ')), line).not.toThrow();
});
