import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';

/** One event as the HTML standard parses it. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** An open event stream. */
export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Resolves to the next event with data; null at the end. */
  next(): Promise<StreamEvent | null>;
  /** All text so far. */
  text(): string;
  close(): void;
}

/** Opens a stream on its own connection. Any answer counts as one: a problem has no events. */
export function openStream(
  base: string,
  path: string,
  { key, headers = {} }: { readonly key?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const req = httpRequest(new URL(path, base), {
      agent: false,
      headers: {
        Accept: 'text/event-stream',
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...headers,
      },
    });
    req.once('response', (res) => resolve(streamOf(req, res)));
    req.once('error', reject);
    req.end();
  });
}

function streamOf(req: ClientRequest, res: IncomingMessage): EventStream {
  const events: StreamEvent[] = [];
  const waiting: ((event: StreamEvent | null) => void)[] = [];
  let text = '';
  let parsed = 0;
  let ended = false;
  const deliver = (): void => {
    while (waiting.length > 0 && (events.length > 0 || ended)) waiting.shift()?.(events.shift() ?? null);
  };
  res.setEncoding('utf8');
  res.on('data', (piece: string) => {
    text += piece;
    for (let end = text.indexOf('\n\n', parsed); end !== -1; end = text.indexOf('\n\n', parsed)) {
      const event = parseEvent(text.slice(parsed, end));
      parsed = end + 2;
      if (event !== null) events.push(event);
    }
    deliver();
  });
  const end = (): void => {
    ended = true;
    deliver();
  };
  res.on('end', end);
  res.on('close', end);
  res.on('error', end);
  return {
    status: res.statusCode ?? 0,
    headers: res.headers,
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        deliver();
      }),
    text: () => text,
    close: () => req.destroy(),
  };
}

function parseEvent(block: string): StreamEvent | null {
  const fields = block.split('\n').map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
  });
  const last = (name: string): string | undefined => fields.findLast(([field]) => field === name)?.[1];
  const data = fields.filter(([field]) => field === 'data').map(([, value]) => value);
  if (data.length === 0) return null;
  return { event: last('event') ?? 'message', id: last('id'), data: data.join('\n') };
}
