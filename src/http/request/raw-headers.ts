import type { IncomingMessage } from 'node:http';

/** Every value that was sent for a header, `name` in lower case: `req.headers` keeps only the first of some. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}
