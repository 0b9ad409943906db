import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchQueries } from './queries.ts';
import { DEFAULT_DIR } from './store.ts';

const USAGE = `npm run bench -- queries [--events N] [--days D] [--runs R] [--dir DIR] [--json FILE]`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '30000000' },
    days: { type: 'string', default: '30' },
    runs: { type: 'string', default: '30' },
    dir: { type: 'string', default: DEFAULT_DIR },
    json: { type: 'string' },
  },
});

function positive(name: 'events' | 'days' | 'runs'): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name}: a positive integer, not ${values[name]}`);
  return value;
}

async function run(name: string | undefined): Promise<boolean> {
  const dir = resolve(values.dir);
  if (name !== 'queries') {
    console.error(USAGE);
    return false;
  }
  const { records, exact } = await benchQueries(
    dir,
    { events: positive('events'), days: positive('days') },
    positive('runs'),
  );
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(records, null, 2)}\n`);
  return exact;
}

if (!(await run(positionals[0]))) process.exitCode = 1;
