import type { IncomingMessage } from 'node:http';

/**
 * Returns every value that was sent for a header; `name` is in lower case. `req.headers` keeps only the first
 * value of some headers.
 */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}
