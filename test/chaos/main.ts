import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chaos } from './run.ts';
import type { StoreKind } from './world.ts';

const USAGE = `npm run test:chaos -- [--minutes N] [--seed S] [--store embedded|bridge] [--steps N] [--latest INSTANT]

  --minutes  how long each story goes on (1)
  --seed     a whole number; another each time unless given
  --store    one story, on this store; else one on each
  --steps    so many steps, however long they take
  --latest   no event is later (now); with the seed it makes the same events again`;

const FOLDER = fileURLToPath(new URL('../failures/', import.meta.url));
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    store: { type: 'string' },
    steps: { type: 'string' },
    latest: { type: 'string', default: new Date().toISOString() },
    help: { type: 'boolean', default: false },
  },
});
const [minutes, seed, steps, latest] = [
  Number(values.minutes),
  Number(values.seed),
  Number(values.steps ?? Number.POSITIVE_INFINITY),
  Date.parse(values.latest),
];
const isStore = (name: string): name is StoreKind => name === 'embedded' || name === 'bridge';
const stores = (values.store === undefined ? ['embedded', 'bridge'] : [values.store]).filter(isStore);
if (values.help || [minutes, seed, steps, latest].some(Number.isNaN) || stores.length === 0) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(values.help ? 0 : 1);
}

/**
 * Set by the first signal: the current step is the last one, then started processes are ended and the counts
 * are printed. A second signal ends at once.
 */
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (isEnding) process.exit(1);
    isEnding = true;
  });
}

let wrong = 0;
for (const store of stores) {
  if (isEnding) break;
  const ends = values.steps === undefined ? Date.now() + minutes * 60_000 : Number.POSITIVE_INFINITY;
  let told = Date.now();
  process.stderr.write(`${store}: seed ${seed}, latest ${values.latest}\n`);
  const { counts, failures } = await chaos({
    store,
    seed,
    latest,
    goesOn: (step) => {
      if (Date.now() - told > PROGRESS_MS) {
        told = Date.now();
        process.stderr.write(`${store}: step ${step}\n`);
      }
      return step <= steps && Date.now() < ends && !isEnding;
    },
    print: (text) => void process.stderr.write(`\n${text}\n`),
  });
  process.stdout.write(`${JSON.stringify({ store, seed, ...counts })}\n`);
  wrong += counts.wrong;
  if (failures.length > 0) {
    mkdirSync(FOLDER, { recursive: true });
    const file = join(FOLDER, `chaos-${store}-${seed}.txt`);
    writeFileSync(file, failures.join('\n'));
    process.stderr.write(`kept in ${file}\n`);
  }
}
process.exit(wrong === 0 ? 0 : 1);
