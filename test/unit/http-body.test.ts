import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { readJson } from '../../src/http/gate/body.ts';

const MIB = 1024 ** 2;

test('bodies that never end give way to others after a while', async () => {
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    try {
      await readJson(req as never, res as never, MIB);
      res.end('read');
    } catch (error) {
      res.statusCode = error instanceof AppError ? error.status : 500;
      res.end();
    }
  };
  const server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const post = async (): Promise<number> => {
    const headers = { 'Content-Type': 'application/json' };
    return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: '{}' })).status;
  };
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n`;
  const answers: string[] = [];
  const begun = Array.from({ length: 130 }, (): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (data) => answers.push(data.toString().slice(9, 12)));
    socket.on('error', () => undefined);
    socket.write(head);
    socket.write(Buffer.alloc(MIB - 1, 32));
    return socket;
  });
  // The last ones find no room.
  await expect.poll(() => answers.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
  await sleep(5_500);
  expect(new Set(answers)).toEqual(new Set(['503']));
  expect(await post()).toBe(200);
  for (const socket of begun) socket.destroy();
  await expect.poll(post).toBe(200);
  server.close();
});
