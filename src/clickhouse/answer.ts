import type { Readable } from 'node:stream';
import { AppError } from '../domain/errors.ts';
import { MEMORY_BYTES, TextSpool } from './text-spool.ts';

interface Document {
  readonly meta: readonly { readonly name: string }[];
  readonly data: readonly Values[];
  readonly rows: number;
  readonly statistics?: { readonly rows_read?: number };
}

/** An answer, with the number of rows that the store read for it if the store reports it. */
export interface Answer<Rows = readonly Values[]> {
  readonly names: readonly string[];
  readonly rows: Rows;
  readonly rowsRead: number | undefined;
}

/** One row's values, in the order of the names. */
type Values = readonly unknown[];

/** Bytes. An answer up to this size is parsed in one go; a larger one in pieces of this size. */
const AT_ONCE = 256 * 1024;
/** The text before and after the rows. Each row has its own line. */
const ROWS_BEGIN = '"data":\n\t[\n';
const ROWS_END = '\n\t]';
const LINE_END = 10;
/** Bytes. A server writes an error into the last part of an answer. */
const TAIL = 4_096;

/**
 * Reads the rows of an answer in format JSONCompact. Unlike rows line by line, this format has an end. An
 * answer that was cut off, that has something in front of it, or into which the server wrote an error after a
 * 200 is never taken for a whole one. The text of a large answer is never in memory as a whole.
 */
export const readRows = (answer: Readable, signal: AbortSignal | undefined): Promise<Answer> =>
  readAnswer(answer, signal, new DecodedRows());

/**
 * Reads an answer like `readRows`, but keeps the rows of a large one as text. Each iteration decodes them
 * anew.
 */
export const readList = (
  answer: Readable,
  signal: AbortSignal | undefined,
): Promise<Answer<Iterable<Values>>> => readAnswer(answer, signal, new TextRows());

/** Takes the rows of a large answer, piece by piece. */
interface RowSink<Rows> {
  add(lines: string, rows: readonly Values[]): void;
  all(): Rows;
}

class DecodedRows implements RowSink<readonly Values[]> {
  readonly #rows: Values[] = [];

  add(_lines: string, rows: readonly Values[]): void {
    for (const row of rows) this.#rows.push(row);
  }

  all(): readonly Values[] {
    return this.#rows;
  }
}

class TextRows implements RowSink<Iterable<Values>> {
  readonly #text = new TextSpool();
  /** The rows of a text that stays in memory: decoding them again would take longer than the rest of an answer. */
  readonly #rows: Values[] = [];
  #length = 0;

  add(lines: string, rows: readonly Values[]): void {
    this.#text.add(lines);
    this.#length += lines.length;
    if (this.#length > MEMORY_BYTES) this.#rows.length = 0;
    else for (const row of rows) this.#rows.push(row);
  }

  all(): Iterable<Values> {
    return this.#length > MEMORY_BYTES ? this : this.#rows;
  }

  *[Symbol.iterator](): Generator<Values> {
    for (const lines of this.#text) yield* rowsIn(lines) ?? [];
  }
}

async function readAnswer<Rows>(
  answer: Readable,
  signal: AbortSignal | undefined,
  sink: RowSink<Rows>,
): Promise<Answer<Rows | readonly Values[]>> {
  // The client ignores the signal once the headers have arrived.
  const close = (): void => void answer.destroy(new Error('aborted'));
  signal?.addEventListener('abort', close, { once: true });
  if (signal?.aborted) close();
  const reader = new RowsReader(sink);
  try {
    for await (const chunk of answer) reader.add(chunk as Buffer);
  } finally {
    signal?.removeEventListener('abort', close);
  }
  return reader.end();
}

class RowsReader<Rows> {
  readonly #sink: RowSink<Rows>;
  #rows = 0;
  /** Bytes that are not parsed yet. */
  #rest: Buffer = Buffer.alloc(0);
  /** The text around the rows. Null for an answer that is parsed in one go. */
  #frame: string | null = null;
  #isBehind = false;
  /** The answer contains something other than rows. */
  #isBroken = false;

  constructor(sink: RowSink<Rows>) {
    this.#sink = sink;
  }

  add(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += AT_ONCE) this.#addPiece(chunk.subarray(at, at + AT_ONCE));
  }

  #addPiece(piece: Buffer): void {
    const rest = this.#isBroken ? this.#rest.subarray(-TAIL) : this.#rest;
    this.#rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    if (this.#rest.length < AT_ONCE) return;
    if (this.#frame === null && !this.#hasHead()) return;
    if (!this.#isBehind && !this.#isBroken) this.#readLines();
  }

  #hasHead(): boolean {
    const begin = this.#rest.indexOf(ROWS_BEGIN);
    if (begin === -1) return false;
    this.#frame = this.#rest.toString('utf8', 0, begin + ROWS_BEGIN.length);
    this.#rest = this.#rest.subarray(begin + ROWS_BEGIN.length);
    return true;
  }

  /** Parses the rows whose lines have arrived completely. */
  #readLines(): void {
    const end = this.#rest.indexOf(ROWS_END);
    const last = end === -1 ? this.#rest.lastIndexOf(LINE_END) : end;
    if (last === -1) return;
    const lines = this.#rest.toString('utf8', 0, last).replace(/,\s*$/, '');
    const rows = rowsIn(lines);
    if (rows === null) {
      this.#isBroken = true;
      return;
    }
    this.#rows += rows.length;
    this.#sink.add(lines, rows);
    this.#rest = this.#rest.subarray(last);
    this.#isBehind = end !== -1;
  }

  /** Throws if the answer is not whole. */
  end(): Answer<Rows | readonly Values[]> {
    if (this.#frame !== null && !this.#isBehind && !this.#isBroken) this.#readLines();
    const text = `${this.#frame ?? ''}${this.#rest.toString()}`;
    const document = this.#isBroken ? null : parse(text);
    if (document === null) throw broken(text);
    const isAtOnce = this.#frame === null;
    if (document.rows !== (isAtOnce ? document.data.length : this.#rows)) throw broken(text);
    return {
      names: document.meta.map(({ name }) => name),
      rows: isAtOnce ? document.data : this.#sink.all(),
      rowsRead: document.statistics?.rows_read,
    };
  }
}

function rowsIn(lines: string): readonly Values[] | null {
  try {
    return JSON.parse(`[${lines}]`) as Values[];
  } catch {
    return null;
  }
}

/** Turns the rows of an answer into objects. */
export const asObjects = ({ names, rows }: Answer): Record<string, unknown>[] =>
  rows.map((values) => asObject(names, values));

export function asObject(names: readonly string[], values: Values): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) row[names[i] ?? ''] = values[i];
  return row;
}

function parse(text: string): Document | null {
  try {
    const document: unknown = JSON.parse(text);
    const isWhole = typeof document === 'object' && document !== null && 'data' in document;
    return isWhole && !('exception' in document) ? (document as Document) : null;
  } catch {
    return null;
  }
}

/** Returns the server's own error, with its code, if the server wrote one behind the rows. */
function broken(text: string): Error {
  const [, code] = /Code: (\d+)\. DB::Exception/.exec(text.slice(-TAIL)) ?? [];
  if (code !== undefined) return Object.assign(new Error('the answer ends with an error'), { code });
  return new AppError('store_unavailable', 'The store does not answer. Try again shortly.', {
    retryAfterSeconds: 5,
    cause: new Error('the answer is not whole'),
  });
}
