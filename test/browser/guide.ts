import { readFileSync } from 'node:fs';

const GUIDE = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8');

/** The snippets of a section of docs/sdk.md in a language, in their order. */
export function snippetsOf(section: string, language: string): string[] {
  const text = GUIDE.split(/^#{2,3} /m).find((part) => part.startsWith(section)) ?? '';
  const found = [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))];
  return found.map(([, code = '']) => code);
}

/** The first of them that holds `word`. */
export function snippetOf(section: string, language: string, word = ''): string {
  const found = snippetsOf(section, language).find((code) => code.includes(word));
  if (found === undefined) throw new Error(`no ${language} in ${section}`);
  return found;
}
