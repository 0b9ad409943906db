import type { Readable } from 'node:stream';
import { AppError } from '../domain/errors.ts';

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
export type Values = readonly unknown[];

/** Bytes. An answer up to this size is parsed in one go; a larger one in pieces of this size. */
const AT_ONCE = 256 * 1024;
/** The text before and after the rows. Each row has its own line. */
export const ROWS_BEGIN = '"data":\n\t[\n';
export const ROWS_END = '\n\t]';
export const LINE_END = 10;
/** Bytes. A server writes an error into the last part of an answer. */
const TAIL = 4_096;

/**
 * Reads the rows of an answer in format JSONCompact. Unlike rows line by line, this format has an end. An
 * answer that was cut off, that has something in front of it, or into which the server wrote an error after a
 * 200 is never taken for a whole one. The text of a large answer is never in memory as a whole.
 */
export async function readRows(answer: Readable, signal?: AbortSignal): Promise<Answer> {
  const reader = new RowsReader();
  for await (const chunk of endingWith(signal, answer)) reader.add(chunk as Buffer);
  return reader.end();
}

/** Returns the stream, which the signal destroys: the client ignores the signal once the headers have arrived. */
export function endingWith(signal: AbortSignal | undefined, answer: Readable): Readable {
  const destroy = (): void => void answer.destroy(new Error('aborted'));
  signal?.addEventListener('abort', destroy, { once: true });
  answer.once('close', () => signal?.removeEventListener('abort', destroy));
  if (signal?.aborted) destroy();
  return answer;
}

class RowsReader {
  readonly #rows: Values[] = [];
  /** Bytes that are not parsed yet. */
  #rest: Buffer = Buffer.alloc(0);
  /** The text around the rows. Null for an answer that is parsed in one go. */
  #frame: string | null = null;
  #isBehind = false;
  /** The answer contains something other than rows. */
  #isBroken = false;

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
    const rows = rowsIn(this.#rest.toString('utf8', 0, last));
    if (rows === null) {
      this.#isBroken = true;
      return;
    }
    for (const row of rows) this.#rows.push(row);
    this.#rest = this.#rest.subarray(last);
    this.#isBehind = end !== -1;
  }

  /** Throws if the answer is not whole. */
  end(): Answer {
    if (this.#frame !== null && !this.#isBehind && !this.#isBroken) this.#readLines();
    const text = `${this.#frame ?? ''}${this.#rest.toString()}`;
    if (this.#isBroken) throw broken(text);
    return answerOf(text, (document) => (this.#frame === null ? document.data : this.#rows));
  }
}

/** Returns an answer. `text`: all of it, or the text around the rows. Throws if it is not whole. */
export function answerOf<Rows extends { readonly length: number }>(
  text: string,
  rowsOf: (document: Document) => Rows,
): Answer<Rows> {
  const document = documentOf(text);
  const rows = document && rowsOf(document);
  if (document === null || rows?.length !== document.rows) throw broken(text);
  return { names: document.meta.map(({ name }) => name), rows, rowsRead: document.statistics?.rows_read };
}

/** Decodes lines of rows; null if they are none. */
export function rowsIn(lines: string): readonly Values[] | null {
  try {
    return JSON.parse(`[${lines.replace(/,\s*$/, '')}]`) as Values[];
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

function documentOf(text: string): Document | null {
  try {
    const document: unknown = JSON.parse(text);
    const isWhole = typeof document === 'object' && document !== null && 'data' in document;
    return isWhole && !('exception' in document) ? (document as Document) : null;
  } catch {
    return null;
  }
}

/** Returns the server's own error, with its code, if the server wrote one behind the rows. */
export function broken(text: string): Error {
  const [, code] = /Code: (\d+)\. DB::Exception/.exec(text.slice(-TAIL)) ?? [];
  if (code !== undefined) return Object.assign(new Error('the answer ends with an error'), { code });
  return new AppError('store_unavailable', 'The store does not answer. Try again shortly.', {
    retryAfterSeconds: 5,
    cause: new Error('the answer is not whole'),
  });
}
