import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const BUILT = new URL('../../dist/console/', import.meta.url);
const MOST_BYTES = 350_000;

const scripts = readdirSync(new URL('assets/', BUILT)).filter((name) => name.endsWith('.js'));
const text = (file: string): string => readFileSync(new URL(file, BUILT), 'utf8');

test('all JavaScript of the console together is at most 350 kB, gzipped', () => {
  const bytes = scripts.map((name) => gzipSync(text(`assets/${name}`)).length);
  expect(bytes.length).toBeGreaterThan(5);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(MOST_BYTES);
});

test('the page has nothing inline, and names no other site', () => {
  const page = text('index.html');
  expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/);
  expect(page).not.toMatch(/(?:src|href)="(?!\/dashboard\/assets\/)/);
});

test('the licences of the bundled packages are beside it', () => {
  for (const name of ['react', '@mantine/core', '@visx/scale']) expect(text('licences.md')).toContain(name);
});
