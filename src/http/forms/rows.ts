import type { Body } from './bodies.ts';
import type { Column } from './columns.ts';
import { readItems } from './json-lines.ts';
import { textInSameMemory } from './utf8.ts';

/**
 * Writes a list's items in another form, piece by piece. The same items give the same bytes. Pieces may use the same
 * memory.
 */
export type WriteForm = (columns: readonly Column[], list: Body) => AsyncGenerator<Uint8Array>;

/** A row of a list. */
export type Item = Readonly<Record<string, string | number | null>>;

/** Reads the items in groups. Each group except the last has about `least` bytes of JSON or more. */
export async function* itemsOf(list: Body, least?: number): AsyncGenerator<readonly Item[]> {
  for await (const text of readItems(list, least)) yield JSON.parse(`[${text}]`) as Item[];
}

/** Writes one line per item: its JSON. */
export const writeNdjson: WriteForm = async function* (_, list) {
  const write = textInSameMemory();
  for await (const text of readItems(list)) yield write(`${text.replaceAll(',\n', '\n')}\n`);
};

/** RFC 4180: every text is quoted, null is an empty field. */
export const writeCsv: WriteForm = async function* (columns, list) {
  const write = textInSameMemory();
  const names = columns.map(({ name }) => name);
  yield write(record(names.map(field)));
  for await (const items of itemsOf(list)) {
    yield write(items.map((item) => record(names.map((name) => field(item[name] ?? null)))).join(''));
  }
};

const record = (fields: readonly string[]): string => `${fields.join(',')}\r\n`;

function field(value: string | number | null): string {
  if (value === null) return '';
  return typeof value === 'number' ? String(value) : `"${value.replaceAll('"', '""')}"`;
}
