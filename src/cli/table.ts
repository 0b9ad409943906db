/** A result as people read it on a terminal of `width` columns: lists as tables, single things line by line. */
export function asText(result: unknown, width: number): string {
  if (Array.isArray(result)) return listText(result.map(cellsOf), width);
  const lists = Object.entries(result ?? {}).filter(isList);
  const single = Object.fromEntries(Object.entries(result ?? {}).filter((entry) => !isList(entry)));
  return [
    recordText(cellsOf(single)),
    ...lists.map(([name, items]) => `\n${titleOf(name)}:\n${listText(items.map(cellsOf), width)}`),
  ].join('');
}

type Cells = ReadonlyMap<string, string>;

const isList = (entry: [string, unknown]): entry is [string, object[]] =>
  Array.isArray(entry[1]) && entry[1].every((item) => typeof item === 'object');

/** Flattens an item to its cells, by title. Parts of a part have both names in the title. */
function cellsOf(item: unknown): Cells {
  const cells = new Map<string, string>();
  const add = (name: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [part, inner] of Object.entries(value)) add(`${name} ${part}`, inner);
    } else {
      cells.set(titleOf(name.trim()), cellOf(value));
    }
  };
  add('', item);
  return cells;
}

/** `lastUsedAt` is "Last used at". */
const titleOf = (name: string): string => {
  const words = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;
/** Characters that would move the cursor, break the line, or turn its direction. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cellOf).join(', ');
  return String(value).replace(INSTANT, '$1 $2Z').replace(UNPRINTABLE, ' ');
}

/** A table; the items one below the other if the terminal is too narrow for it. */
function listText(items: readonly Cells[], width: number): string {
  if (items.length === 0) return 'None.\n';
  const titles = [...new Set(items.flatMap((cells) => [...cells.keys()]))];
  const columns = titles.map((title) => {
    const cells = items.map((item) => item.get(title) ?? '-');
    const size = Math.max(...[title, ...cells].map(widthOf));
    const right = cells.every((cell) => /^(-|[\d.]+)$/.test(cell));
    return [title, ...cells].map((cell) => pad(cell, size, right));
  });
  const lines = [0, ...items.keys()].map((_, row) => columns.map((column) => column[row]).join('  '));
  if (Math.max(...lines.map(widthOf)) > width) return items.map(recordText).join('\n');
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function recordText(cells: Cells): string {
  const size = Math.max(0, ...[...cells.keys()].map(widthOf));
  return [...cells].map(([title, cell]) => `${pad(title, size, false)}  ${cell}\n`).join('');
}

const pad = (text: string, size: number, right: boolean): string => {
  const space = ' '.repeat(size - widthOf(text));
  return right ? space + text : text + space;
};

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Scripts and signs that terminals show in two columns. */
const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\u3000-\u303f\uff01-\uff60]/u;

/** The number of columns that a terminal needs for the text. */
const widthOf = (text: string): number =>
  [...GRAPHEMES.segment(text)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0);
