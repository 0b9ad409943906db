import type { Body } from './bodies.ts';

/** Characters of one piece: the work between two turns of the event loop. */
const PIECE = 64 * 1024;
/** The most that UTF-8 takes for a UTF-16 unit. */
const BYTES_PER_CHARACTER = 3;

/**
 * Writes a result as JSON, a list with one line per item. Equal data gives equal bytes. The lines separate
 * the items without parsing, because JSON escapes line ends within texts. All pieces use the same memory.
 */
export async function* writeJson(value: unknown): AsyncGenerator<Buffer> {
  if (!isList(value)) {
    yield Buffer.from(JSON.stringify(value));
    return;
  }
  let bytes: Buffer = Buffer.alloc(0);
  let text = '[';
  let between = '';
  for (const item of value) {
    text += `${between}${JSON.stringify(item)}`;
    between = ',\n';
    if (text.length < PIECE) continue;
    if (bytes.length < BYTES_PER_CHARACTER * text.length) {
      bytes = Buffer.allocUnsafeSlow(2 * BYTES_PER_CHARACTER * text.length);
    }
    yield bytes.subarray(0, bytes.write(text));
    text = '';
  }
  yield Buffer.from(`${text}]`);
}

const isList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

/**
 * Reads the items of a list that `writeJson` wrote: texts of several items, with `,\n` between them. Each
 * text except the last has about `least` bytes or more.
 */
export async function* readItems(list: Body, least = PIECE): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  let length = 0;
  let start = 1;
  for await (const piece of list.pieces()) {
    const end = piece.lastIndexOf(LINE_END);
    begun.push(piece);
    length += piece.length;
    if (end === -1 || length < least) continue;
    const bytes = Buffer.concat(begun);
    const cut = length - piece.length + end;
    yield bytes.toString('utf8', start, cut - 1);
    begun = [bytes.subarray(cut + 1)];
    length -= cut + 1;
    start = 0;
  }
  const rest = Buffer.concat(begun).toString('utf8', start, length - 1);
  if (rest !== '') yield rest;
}

const LINE_END = 10;
