import { type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const Package = z.object({ scripts: z.object({ start: z.string() }) });

/** The service as `npm start` runs it, without npm between. */
export function startService(settings: Readonly<Record<string, string>>, stdio: StdioOptions) {
  const { scripts } = Package.parse(JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')));
  const command = /^UV_THREADPOOL_SIZE=(\d+) exec node (.+)$/.exec(scripts.start);
  if (command === null) throw new Error(`npm start is not what it was: ${scripts.start}`);
  const [, threads = '', args = ''] = command;
  const env = { PATH: process.env['PATH'], UV_THREADPOOL_SIZE: threads, ...settings };
  return spawn(process.execPath, args.split(' '), { cwd: ROOT, stdio, env });
}
