import { keep, kept } from '../parts/kept.ts';
import type { Texts } from './texts.ts';

/**
 * A language of the console. `CODE/index.ts` exports one as `language`, and nothing else names it: its texts may all be in
 * that file.
 */
export interface Language {
  readonly direction: 'ltr' | 'rtl';
  /** For numbers and dates, such as `fa-IR-u-ca-persian-nu-arabext`. */
  readonly locale: string;
  readonly texts: Texts;
}

export interface LoadedLanguage extends Language {
  readonly code: string;
}

const FOLDERS = import.meta.glob<Language>('./*/index.ts', { import: 'language' });
const LOADERS = new Map(
  Object.entries(FOLDERS).map(([path, load]) => [path.split('/')[1] ?? '', load] as const),
);
const DEFAULT = 'en';
const KEPT = 'console-language';

/** The codes of all languages, English first. */
export const LANGUAGES: readonly string[] = [...LOADERS.keys()].sort((a, b) =>
  a === DEFAULT ? -1 : b === DEFAULT ? 1 : a.localeCompare(b),
);

/** The person's choice; without one the first language of the browser that the console speaks. */
export function preferredLanguage(): string {
  const wishes = [kept(KEPT) ?? '', ...navigator.languages.map((tag) => tag.split('-')[0] ?? '')];
  return wishes.find((code) => LOADERS.has(code)) ?? DEFAULT;
}

/** Loads a language, and turns the page into its direction. */
export async function loadLanguage(code: string): Promise<LoadedLanguage> {
  const load = LOADERS.get(code);
  if (load === undefined) throw new Error(`The console has no language ${code}.`);
  const language = await load();
  document.documentElement.lang = code;
  document.documentElement.dir = language.direction;
  return { ...language, code };
}

/** Loads the language, and remembers it as the person's choice. */
export async function chooseLanguage(code: string): Promise<LoadedLanguage> {
  const language = await loadLanguage(code);
  keep(KEPT, code);
  return language;
}

/** The name of a language in itself, such as فارسی. */
export const nameOfLanguage = (code: string): string =>
  new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;
