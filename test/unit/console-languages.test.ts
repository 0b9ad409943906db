import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { daysIn } from '../../src/console/i18n/digits.ts';

const CONSOLE = fileURLToPath(new URL('../../src/console', import.meta.url));
const I18N = join(CONSOLE, 'i18n');

interface Language {
  readonly direction: string;
  readonly locale: string;
  readonly texts: object;
}

const codes = readdirSync(I18N, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const languageOf = async (code: string): Promise<Language> =>
  (await import(/* @vite-ignore */ join(I18N, code, 'index.ts'))).language;

/** The places of all texts: `keys.title`. */
function places(texts: object, at = ''): string[] {
  return Object.entries(texts).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null ? places(value, `${at}${name}.`) : [`${at}${name}`],
  );
}

/** Texts in the place of the service's own, which is English. */
const OPTIONAL = /^(problems|fieldProblems|analytics\.cities)\./;

test('the console finds each language by its folder, English first', async () => {
  const { LANGUAGES } = await import(/* @vite-ignore */ join(I18N, 'languages.ts'));
  expect(LANGUAGES).toEqual(['en', ...codes.filter((code) => code !== 'en').sort()]);
});

test.each(codes)('%s has every text, a locale and a direction', async (code) => {
  const { direction, locale, texts } = await languageOf(code);
  const needed = (of: object): string[] => places(of).filter((place) => !OPTIONAL.test(place));
  expect(needed(texts).sort()).toEqual(needed((await languageOf('en')).texts).sort());
  expect(new Intl.Locale(locale).language).toBe(code);
  expect(['ltr', 'rtl']).toContain(direction);
});

/** All texts that take no values. */
const written = (texts: object): string[] =>
  Object.values(texts).flatMap((value) =>
    typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? written(value) : [],
  );

test.each(codes)(
  '%s: what has an order of its own, such as an address of IPv6, is isolated',
  async (code) => {
    const { direction, texts } = await languageOf(code);
    if (direction === 'ltr') return;
    // Without isolates, the parts of such a text that begins with a digit change their places.
    const bare = written(texts).filter((text) =>
      /[0-9][0-9A-Za-z]*[:/=]/.test(text.replace(/\u2066.*?\u2069/gu, '')),
    );
    expect(bare).toEqual([]);
  },
);

test('no other file of the console names a language but the first one', () => {
  const files = readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const others = codes.filter((code) => code !== 'en').map((code) => `'${code}'`);
  for (const file of files.filter((each) => !codes.some((code) => each.startsWith(join('i18n', code))))) {
    const text = readFileSync(join(CONSOLE, file), 'utf8');
    expect([file, others.filter((name) => text.includes(name))]).toEqual([file, []]);
  }
});

test.each([
  ['395', 395],
  ['۳۹۵', 395],
  ['٣٩٥ روز', 395],
  ['36,500', 36_500],
  ['', null],
  ['–', null],
])('reads %o as days', (text, days) => {
  expect(daysIn(text)).toBe(days);
});
