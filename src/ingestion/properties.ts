import { cleanText } from './text.ts';

/** The most properties of an event, as sent, and their longest names and values in code points. */
const MOST_PROPERTIES = 20;
const MAX_KEY = 64;
const MAX_VALUE = 256;

/** What is wrong with an event's properties. */
export interface WrongProperties {
  readonly message: string;
}

const wrong = (what: string): WrongProperties => ({ message: `properties: ${what}` });

/**
 * Returns a custom event's properties in their stored form, or what is wrong with them. Null counts as absent, as everywhere.
 * The stored form is a JSON object of texts, in one order of the keys: equal properties are equal texts. '' is none.
 */
export function readProperties(sent: unknown): string | WrongProperties {
  if (sent === undefined || sent === null) return '';
  if (typeof sent !== 'object' || Array.isArray(sent)) return wrong('must be an object.');
  const entries = Object.entries(sent);
  if (entries.length > MOST_PROPERTIES) return wrong(`at most ${MOST_PROPERTIES} keys.`);
  const kept: [key: string, value: string][] = [];
  const keys = new Set<string>();
  for (const [sentKey, sentValue] of entries) {
    const key = keyOf(sentKey);
    if (key === null) return wrong(`a key must have 1 to ${MAX_KEY} characters.`);
    if (keys.has(key)) return wrong('a key comes twice.');
    keys.add(key);
    const value = textOf(sentValue);
    if (value === null) return wrong('a value must be a string, a finite number or a boolean.');
    if (value !== '') kept.push([key, value]);
  }
  if (kept.length === 0) return '';
  kept.sort(([a], [b]) => (a < b ? -1 : 1));
  // An object of JavaScript would reorder keys that are numbers.
  return `{${kept.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
}

/** Null if the key is empty or too long. */
function keyOf(sent: string): string | null {
  const key = cleanText(sent, MAX_KEY + 1);
  return key !== '' && [...key].length <= MAX_KEY ? key : null;
}

/** The JSON text of a number is its shortest: `1.0` is `1`. Null for a value that is not allowed. */
function textOf(sent: unknown): string | null {
  if (typeof sent === 'string') return cleanText(sent, MAX_VALUE);
  if (typeof sent === 'boolean' || (typeof sent === 'number' && Number.isFinite(sent))) {
    return JSON.stringify(sent);
  }
  return null;
}

/** Tells whether a text has the stored form. */
export function areProperties(text: string): boolean {
  if (text === '') return true;
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return false;
    return Object.values(found).every((value) => typeof value === 'string');
  } catch {
    return false;
  }
}
