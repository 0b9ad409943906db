import type { IncomingMessage } from 'node:http';

/** Lets the connection be silent for longer than others: with much data, the work of this request may take that long. */
export function mayBeSilent({ socket }: IncomingMessage): void {
  socket.setTimeout(0);
}
