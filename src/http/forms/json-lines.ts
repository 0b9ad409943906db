import type { Body } from './bodies.ts';
import { textInSameMemory } from './utf8.ts';

/** Characters of one piece: the work between two turns of the event loop. */
const PIECE = 64 * 1024;

/**
 * Writes a result as JSON, a list with one line per item. Equal data gives equal bytes. The lines separate
 * the items without parsing, because JSON escapes line ends within texts. All pieces use the same memory.
 */
export async function* writeJson(value: unknown): AsyncGenerator<Buffer> {
  if (!isList(value)) {
    yield Buffer.from(JSON.stringify(value));
    return;
  }
  const write = textInSameMemory();
  let text = '[';
  let between = '';
  for (const item of value) {
    text += `${between}${JSON.stringify(item)}`;
    between = ',\n';
    if (text.length < PIECE) continue;
    yield write(text);
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
  let bytes: Buffer = Buffer.alloc(0);
  let length = 0;
  let start = 1;
  for await (const piece of list.pieces(true)) {
    if (bytes.length < length + piece.length) {
      const longer = Buffer.allocUnsafeSlow(Math.max(2 * length, least) + piece.length);
      bytes.copy(longer, 0, 0, length);
      bytes = longer;
    }
    piece.copy(bytes, length);
    length += piece.length;
    const end = length < least ? -1 : piece.lastIndexOf(LINE_END);
    if (end === -1) continue;
    const cut = length - piece.length + end;
    yield bytes.toString('utf8', start, cut - 1);
    bytes.copyWithin(0, cut + 1, length);
    length -= cut + 1;
    start = 0;
  }
  const rest = bytes.toString('utf8', start, length - 1);
  if (rest !== '') yield rest;
}

const LINE_END = 10;
