import type { AddressInfo } from 'node:net';
import express from 'express';

/** An answer byte for byte, for a route that does no other work. */
export interface Bytes {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

let answer: Bytes = { status: 404, headers: [], body: '' };
const app = express();
app.disable('x-powered-by');
app.get('/{*path}', (_req, res) => {
  res.statusCode = answer.status;
  for (const [name, value] of answer.headers) res.setHeader(name, value);
  res.end(answer.status === 304 ? undefined : answer.body);
});
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

// The bench may have been killed.
process.on('disconnect', () => process.exit());
process.on('message', (bytes: Bytes) => {
  answer = bytes;
  process.send?.('ready');
});
