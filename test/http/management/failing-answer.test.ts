import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { epochMs } from '../../../src/domain/time.ts';
import { createLog } from '../../../src/http/server/log.ts';
import { createHttpServer, type HttpServer } from '../../../src/http/server/server.ts';
import { createManagementApp } from '../../../src/management/app.ts';
import { ingestionRouter } from '../../../src/management/ingestion.ts';
import { sealRouter } from '../../../src/management/seal.ts';
import { signManagementToken } from '../../../src/management/token.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { expectProblem, send } from '../support.ts';

const SECRET = 'a secret of at least 32 characters';
const clock = () => epochMs(Date.now());
const lines: string[] = [];
const log = createLog({ level: 'error', destination: { write: (line) => void lines.push(line) } });
const deps = { clock, log, isDraining: () => false, trustedProxies: 0, slowMs: 1_000 };

/** Throws when it is serialised, after the handler has finished. */
const unwritable = {
  toJSON: () => {
    throw new Error('cannot be written');
  },
} as never;
const found = async () => unwritable;

const servers: HttpServer[] = [];
const listening = (server: HttpServer): Promise<string> => {
  servers.push(server);
  return server.listen({ host: '127.0.0.1', port: 0 });
};
afterAll(() => Promise.all(servers.map((server) => server.finish())));

let url: string;
beforeAll(async () => {
  const app = createManagementApp({
    metadata: { listAccounts: found, listKeys: found, appsOfAccount: found } as never,
    jwtSecret: SECRET,
    clock,
    log,
    metrics: new Metrics(),
    routers: [
      ingestionRouter({ stats: () => unwritable } as never),
      sealRouter({ health: unwritable, states: async () => [] } as never),
    ],
  });
  url = await listening(createHttpServer(app, deps));
});

test.each([
  '/accounts',
  `/accounts/${randomUUID()}/keys`,
  `/accounts/${randomUUID()}/apps`,
  '/ingestion',
  '/seal',
])('an answer to %s that fails after its handler is a 500, and the process goes on', async (path) => {
  const Authorization = `Bearer ${await signManagementToken(SECRET, clock)}`;
  // An unhandled rejection would end the service and fail this test's run.
  for (let i = 0; i < 2; i++) {
    expectProblem(await send(url, `/management/v1${path}`, { headers: { Authorization } }), 'internal');
  }
});

test('a listener that throws answers 500, and the process goes on', async () => {
  const failing = await listening(
    createHttpServer(() => {
      throw new Error('a bug');
    }, deps),
  );
  for (let i = 0; i < 2; i++) expectProblem(await send(failing, '/', {}), 'internal');
  expect(lines.join('')).toContain('a bug');
});
