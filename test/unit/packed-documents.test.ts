import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';

/** What npm packs, except what a build makes. */
const packed = (): string[] => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  return files.map(({ path }) => path).filter((path) => !path.startsWith('dist/'));
};
const files = packed();
/** A link to a folder needs something in it. */
const isPacked = (path: string): boolean =>
  files.some((file) => file === path || file.startsWith(`${path}/`));

const pages = files.filter((path) => path.endsWith('.md'));

test.each(pages)('what %s links to is in the package', (page) => {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)].flatMap(
    ([, link = '']) => (/^[a-z]+:|^\//.test(link) ? [] : [posix.join(posix.dirname(page), link)]),
  );
  expect(links.filter((link) => !isPacked(posix.normalize(link).replace(/\/$/, '')))).toEqual([]);
});

test('the pages that messages name are in the package', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  );
  const named = sources.flatMap(
    (path) => readFileSync(`src/${path}`, 'utf8').match(/\bdocs\/[\w-]+\.md\b/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(8);
  expect([...new Set(named)].filter((name) => !isPacked(name))).toEqual([]);
});
