import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlLines } from '../../src/demo/curl.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';

const APP = appId('cbc5d307-ce69-49cd-a9d9-8e24c9c2b296');
const STATE = {
  apiKey: 'service_api_k',
  appId: APP,
  secretKey: 'app_secret_s',
  start: 0,
  until: 0,
  loaded: 0,
};
test('a shell passes the lines of the demo to curl as intended', () => {
  const lines = curlLines('http://127.0.0.1:3000', STATE, epochMs(Date.UTC(2026, 10, 22)));
  // A curl that prints its arguments, one per line.
  const script = ['curl() { printf "%s\\n" "$@"; echo; }', ...lines].join('\n');
  const calls = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n\n');
  expect(calls).toHaveLength(lines.filter((line) => line.startsWith('curl')).length);
  expect(calls[1]).toBe(
    `-s\n-H\nAuthorization: Bearer service_api_k\nhttp://127.0.0.1:3000/api/v1/sessions/overview/kpis?appId=${APP}`,
  );
  expect(lines.filter((line) => line.startsWith('export '))).toHaveLength(3);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
  expect(calls[2]).toContain('&from=2026-11-15T00:00:00Z');
});
