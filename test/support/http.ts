import { request as httpRequest } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Undefined if the body is no JSON. */
  readonly json: unknown;
}

export interface Ask {
  readonly method?: string;
  /** Null: no Authorization header. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** A string is sent unchanged. */
  readonly body?: unknown;
}

/**
 * Sends one request on its own connection, byte for byte as given. fetch would normalise paths and headers.
 */
export function send(
  base: string,
  path: string,
  { method = 'GET', key, headers = {}, body }: Ask,
): Promise<Answer> {
  const { hostname, port } = new URL(base);
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const req = httpRequest(
      {
        host: hostname,
        port,
        path,
        method,
        agent: false,
        headers: {
          ...(key ? { Authorization: `Bearer ${key}` } : {}),
          ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(text === undefined || 'Transfer-Encoding' in headers
            ? {}
            : { 'Content-Length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (res) => {
        res.setEncoding('utf8');
        let received = '';
        res.on('data', (chunk: string) => {
          received += chunk;
        });
        res.on('end', () =>
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers as Record<string, string>,
            text: received,
            json:
              received !== '' && /\bjson\b/.test(res.headers['content-type'] ?? '')
                ? JSON.parse(received)
                : undefined,
          }),
        );
      },
    );
    req.on('error', reject);
    req.end(text);
  });
}
