import { AppError } from '../domain/errors.ts';

interface TextAnswer {
  text(): Promise<string>;
  close(): void;
}

interface Document {
  readonly meta: readonly { readonly name: string }[];
  readonly data: readonly (readonly unknown[])[];
  readonly rows: number;
  readonly statistics?: { readonly rows_read?: number };
}

/** An answer, and how many rows the store read for it, where it says so. */
export interface Answer {
  readonly names: readonly string[];
  /** Values in the order of `names`. */
  readonly rows: readonly (readonly unknown[])[];
  readonly rowsRead: number | undefined;
}

/**
 * The rows of an answer in format JSONCompact. That format has an end, which rows line by line have not: an answer that was
 * cut off, into which the server wrote an error after a 200, or in front of which something else stands, is never taken
 * for another one.
 */
export async function readRows(answer: TextAnswer, signal: AbortSignal | undefined): Promise<Answer> {
  // Once the headers are there the client no longer listens to the signal.
  const close = (): void => answer.close();
  signal?.addEventListener('abort', close, { once: true });
  const text = await answer.text().finally(() => signal?.removeEventListener('abort', close));
  const document = parse(text);
  if (document?.rows !== document?.data.length || document === null) throw broken(text);
  return {
    names: document.meta.map(({ name }) => name),
    rows: document.data,
    rowsRead: document.statistics?.rows_read,
  };
}

/** The rows of an answer as objects. */
export const asObjects = ({ names, rows }: Answer): Record<string, unknown>[] =>
  rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) row[names[i] ?? ''] = values[i];
    return row;
  });

function parse(text: string): Document | null {
  try {
    const document: unknown = JSON.parse(text);
    const isWhole = typeof document === 'object' && document !== null && 'data' in document;
    return isWhole && !('exception' in document) ? (document as Document) : null;
  } catch {
    return null;
  }
}

/** The server's own error where it wrote one behind the rows, with its code. */
function broken(text: string): Error {
  const [, code] = /Code: (\d+)\. DB::Exception/.exec(text.slice(-4_096)) ?? [];
  if (code !== undefined) return Object.assign(new Error('the answer ends with an error'), { code });
  return new AppError('store_unavailable', 'The store does not answer. Try again shortly.', {
    retryAfterSeconds: 5,
    cause: new Error('the answer is not whole'),
  });
}
