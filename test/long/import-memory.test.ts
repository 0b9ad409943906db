import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../src/remove-folder.ts';
import { accessLines } from '../support/access-lines.ts';
import { program } from '../support/program.ts';

/** More lines with IMPORT_LINES. The memory stays the same. */
const LINES = Number(process.env['IMPORT_LINES'] ?? 600_000);
const MOST_MIB = 300;
const END = Date.parse('2026-11-20T00:00:00Z');

let folder: string;
/** Takes everything, so that only the import's own memory is measured, at its highest speed. */
let sink: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-import-memory-'));
  sink = createServer((req, res) => {
    json(req).then(
      (body) => {
        const { sessions } = body as { sessions: { events: unknown[] }[] };
        const events = sessions.reduce((sum, session) => sum + session.events.length, 0);
        res.end(JSON.stringify({ sessions: sessions.map((_, i) => i), events, duplicates: 0, rejected: [] }));
      },
      () => res.destroy(),
    );
  });
  sink.listen(0, '127.0.0.1');
  await once(sink, 'listening');
});
afterAll(() => {
  sink.close();
  removeFolder(folder);
});

const peakMib = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

test(`${LINES} lines from standard input need at most ${MOST_MIB} MiB of memory`, {
  timeout: 7_200_000,
}, async () => {
  const app = '0b5c2a9e-6f4d-4c39-9d0e-0d3f6f1b2a11';
  const child = spawn(await program(), ['import', '-', '--app', app, '--state', folder], {
    env: {
      PATH: process.env['PATH'],
      MANAGEMENT_PORT: String((sink.address() as AddressInfo).port),
      MANAGEMENT_JWT_SECRET: 'a secret of at least 32 characters',
    },
  });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, child.exitCode === null ? peakMib(child.pid ?? 0) : 0);
  }, 200);
  const [printed, said] = [text(child.stdout), text(child.stderr)];
  const closed = once(child, 'close');
  const days = Math.max(1, LINES / 500_000);
  const lines = accessLines({ begin: END - days * 86_400_000, end: END, lines: LINES, seed: 5 });
  await pipeline(Readable.from(lines), child.stdin);
  await closed;
  clearInterval(watch);
  expect(JSON.parse(await printed), await said).toMatchObject({ lines: LINES, skipped: { malformed: 0 } });
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(MOST_MIB);
  expect(readdirSync(folder)).toEqual([]);
  if (process.env['IMPORT_LINES'] !== undefined) process.stderr.write(`peak: ${Math.round(peak)} MiB\n`);
});
