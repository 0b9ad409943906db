import { execFile } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { CLIENT_NODES, envOf } from './commands.ts';
import { emptyFolder, install } from './install.ts';

const PROGRAM = 'client-stops.mjs';
const ENDS = ['abort', 'signal of signals', 'timeout', 'abort in the loop', 'break', 'return while it waits'];

const folder = emptyFolder();
let server: Server;

beforeAll(async () => {
  install(folder, [inject('tarballs')['session-analytics-client']]);
  copyFileSync(join(import.meta.dirname, 'programs', PROGRAM), join(folder, PROGRAM));
  const open = new Set<ServerResponse>();
  server = createServer((req, res) => {
    if (req.url === '/open') {
      res.end(String(open.size));
    } else if (req.headers.accept === 'text/event-stream') {
      open.add(res);
      res.on('close', () => open.delete(res));
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.write('retry: 1000\n\nid: "1"\ndata: []\n\n');
    } else {
      res.writeHead(200, { 'Content-Type': 'application/json', ETag: '"1"' });
      res.end('[]');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each(Object.keys(CLIENT_NODES))(
  'live and poll can be stopped on Node %s while garbage is collected, and the process ends',
  async (version) => {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // It is killed, and this fails, if it does not end by itself.
    const options = { cwd: folder, env: envOf(version), timeout: 60_000 };
    const { stdout, stderr } = await promisify(execFile)('node', ['--expose-gc', PROGRAM, baseUrl], options);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      node: expect.stringMatching(`^v${version}\\.`),
      ended: Object.fromEntries(
        ENDS.flatMap((end) => [`live ${end}`, `poll ${end}`].map((each) => [each, 1])),
      ),
      open: '0',
    });
  },
);
