import { isAway, isLimited } from './errors.ts';
import type { LiveAnswer } from './types.ts';
import { wait } from './wait.ts';

/** The service sends a comment every 15 s. A longer silence means that the connection is lost. */
const SILENCE_MS = 45_000;
/** The pause before a new connection, doubled after each one that brought nothing. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Opens a stream that begins after the answer `lastEventId`. */
export type Connect = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;

/** Yields each answer of an event stream, and connects again whenever the stream ends. */
export async function* liveAnswers<T>(
  connect: Connect,
  signal: AbortSignal | undefined,
): AsyncGenerator<LiveAnswer<T>, void, void> {
  let known: string | undefined;
  let failures = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      try {
        for await (const { id, data } of connection(connect, known, signal)) {
          known = id;
          failures = 0;
          if (data !== null) yield { etag: id, data: JSON.parse(data) as T };
        }
      } catch (error) {
        if (!isAway(error) && !isLimited(error)) throw error;
      }
      // Random between half and the whole, so that clients do not connect all at once.
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures++, LONGEST_PAUSE_MS);
      await wait(pause * (0.5 + Math.random() / 2), signal);
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

interface Event {
  readonly id: string;
  /** Null: the answer is unchanged under a new id. */
  readonly data: string | null;
}

/** Yields the events of one connection, until it ends or is lost. Closes it when the caller stops reading. */
async function* connection(
  connect: Connect,
  known: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Event, void, void> {
  const closing = new AbortController();
  const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
  try {
    const { body } = await connect(known, either);
    let id: string | undefined;
    let data: string[] = [];
    for await (const line of body === null ? [] : lines(body)) {
      if (line.startsWith('id: ')) id = line.slice(4);
      else if (line.startsWith('data: ')) data.push(line.slice(6));
      else if (line === '') {
        // The last event, which says why the service ends the stream, has no id. The next connection tells the same.
        if (id !== undefined) yield { id, data: data.length === 0 ? null : data.join('\n') };
        id = undefined;
        data = [];
      }
    }
  } finally {
    closing.abort();
  }
}

/** Yields whole lines. A lost connection ends them. */
async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let begun: string[] = [];
  for (let piece = await readInTime(reader); piece !== null; piece = await readInTime(reader)) {
    const [rest = '', ...more] = decoder.decode(piece, { stream: true }).split('\n');
    begun.push(rest);
    for (const text of more) {
      yield begun.join('');
      begun = [text];
    }
  }
}

/** Returns null at the end, after an error, and after a silence. */
async function readInTime(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), SILENCE_MS);
  });
  const read = reader.read().then(
    ({ value }) => value ?? null,
    () => null,
  );
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}
