import { stoppable, unlessAborted } from './abort.ts';
import { parsed } from './answer.ts';
import { ConnectionError } from './errors.ts';
import { Outages } from './outage.ts';
import type { LiveAnswer, StreamOptions } from './types.ts';

/** The service sends a comment every 15 s. A longer silence means that the connection is lost. */
const SILENCE_MS = 45_000;

/** Opens a stream that begins after the answer `lastEventId`. */
export type Connect = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;

/** Yields each answer of an event stream, and connects again whenever the stream ends. */
export function liveAnswers<T>(
  connect: Connect,
  isList: boolean,
  options: StreamOptions,
): AsyncGenerator<LiveAnswer<T>, void, void> {
  return stoppable(options.signal, async function* (signal) {
    const outages = new Outages(options);
    let known: string | undefined;
    for (;;) {
      try {
        const response = await connect(known, signal);
        outages.connected();
        for await (const event of eventsOf(response, signal)) {
          // A comment, too, is a sign of life.
          outages.worked();
          if (event === null) continue;
          const { id, data } = event;
          const answer = data === null ? null : { etag: id, data: parsed<T>(200, data, isList) };
          known = id;
          if (answer !== null) yield answer;
        }
      } catch (error) {
        await outages.failed(error, signal);
      }
    }
  });
}

interface Event {
  readonly id: string;
  /** Null: the answer is unchanged under a new id. */
  readonly data: string | null;
}

/** Yields the events of one connection, and null for a comment. Throws when the connection ends or is lost. */
async function* eventsOf({ body }: Response, signal: AbortSignal): AsyncGenerator<Event | null, void, void> {
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of linesOf(body, signal)) {
    if (line.startsWith(':')) yield null;
    else if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
    else if (line === '') {
      // The last event, which says why the service ends the stream, has no id. The next connection tells the same.
      if (id !== undefined) yield { id, data: data.length === 0 ? null : data.join('\n') };
      id = undefined;
      data = [];
    }
  }
  throw new ConnectionError(undefined, 'The stream has ended');
}

/** Yields whole lines until the connection ends. Closes it when the reader stops. */
async function* linesOf(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let begun: string[] = [];
  try {
    for (;;) {
      const { value, done } = await readInTime(reader, signal);
      if (done) return;
      const [rest = '', ...more] = decoder.decode(value, { stream: true }).split('\n');
      begun.push(rest);
      for (const text of more) {
        yield begun.join('');
        begun = [text];
      }
    }
  } finally {
    // Not by the request's signal: after the headers, some versions of Node do not listen to it any more.
    void reader.cancel().catch(() => undefined);
  }
}

async function readInTime(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const lost = new ConnectionError(undefined, `The stream was silent for ${SILENCE_MS / 1000} s`);
    timer = setTimeout(() => reject(lost), SILENCE_MS);
  });
  const read = reader.read().catch((error: unknown) => Promise.reject(new ConnectionError(error)));
  try {
    return await unlessAborted(Promise.race([read, silence]), signal);
  } finally {
    clearTimeout(timer);
  }
}
