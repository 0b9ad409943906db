import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { z } from 'zod';
import { scriptBeside } from '../test/support/program.ts';
import { casesOf } from './cases.ts';
import { AnswerSchema, type AskSchema } from './protocol.ts';
import type { Recording } from './recording.ts';
import type { Shape } from './shape.ts';
import { COMPARABLE_RUNS, median } from './statistics.ts';
import { figure, short, table } from './table.ts';

/** The measurements of a question on one data set. */
interface Measured {
  readonly endpoint: string;
  readonly shape: Shape;
  readonly ms: number[];
  readonly rawMs: number[];
  equal: boolean;
}

interface Worker {
  readonly shape: Shape;
  ask(message: z.infer<typeof AskSchema>): Promise<z.infer<typeof AnswerSchema>>;
  close(): Promise<void>;
}

const WORKER = scriptBeside(import.meta.url, 'worker');

/**
 * Asks ranges of whole sealed days on three data sets: the first, one with ten times its traffic in the same
 * days, and one with ten times its days at the same traffic. All three are open at once and asked in turns,
 * so that noise affects all of them alike.
 */
export async function benchScale(
  recording: Recording,
  dir: string,
  { events, days }: Shape,
  runs: number,
): Promise<void> {
  const shapes = [
    { events: Math.round(events / 10), days },
    { events, days },
    { events, days: days * 10 },
  ];
  const workers: Worker[] = [];
  const measured: Measured[] = [];
  try {
    for (const shape of shapes) {
      recording.progress.say(`scale: opening ${nameOf(shape)}`);
      workers.push(await startWorker(dir, shape, recording.signal));
    }
    await measureAll(recording, workers, runs, measured);
  } finally {
    recording.progress.end();
    await Promise.all(workers.map((worker) => worker.close()));
    for (const entry of measured) recordCase(recording, entry);
    print(measured, shapes);
  }
}

function recordCase(recording: Recording, { endpoint, shape, ms, rawMs, equal }: Measured): void {
  const common = {
    bench: 'scale',
    name: `${endpoint}, ${nameOf(shape)}`,
    unit: 'ms' as const,
    labels: { endpoint, ...shape },
  };
  recording.record({ ...common, measure: 'first', runs: ms, exact: equal });
  recording.record({ ...common, measure: 'raw', runs: rawMs, ofService: false });
}

async function startWorker(dir: string, shape: Shape, signal: AbortSignal): Promise<Worker> {
  const child = fork(WORKER.path, [dir, String(shape.events), String(shape.days)], {
    execArgv: WORKER.loader,
    // The terminal's Ctrl+C is for this process alone.
    detached: true,
  });
  const exited = once(child, 'exit');
  const nextMessage = async (): Promise<unknown> => {
    const end = exited.then(([code]) => {
      throw new Error(`the process of a data set ended: ${code}`);
    });
    const [message] = (await Promise.race([once(child, 'message', { signal }), end])) as [unknown];
    return message;
  };
  const close = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    if (signal.aborted) child.kill();
    await exited;
  };
  try {
    await nextMessage();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    shape,
    ask: async (message) => {
      child.send(message);
      return AnswerSchema.parse(await nextMessage());
    },
    close,
  };
}

async function measureAll(
  { progress }: Recording,
  workers: readonly Worker[],
  runs: number,
  measured: Measured[],
): Promise<void> {
  const cases = workers.slice(0, 1).flatMap(({ shape }) => casesOf(shape));
  const asked = cases.filter(({ range }) => range === 'aligned');
  progress.begin('scale', asked.length * (COMPARABLE_RUNS + runs));
  for (const { endpoint, range } of asked) {
    const own = workers.map(({ shape }): Measured => ({ endpoint, shape, ms: [], rawMs: [], equal: true }));
    measured.push(...own);
    // The first runs, with the raw question, also warm the store's caches.
    for (let run = -COMPARABLE_RUNS; run < runs; run++) {
      progress.step(run < 0 ? `${endpoint}, with raw` : endpoint);
      for (const [index, worker] of workers.entries()) {
        const { ms, raw } = await worker.ask({ endpoint, range, withRaw: run < 0 });
        const seen = own[index];
        if (seen === undefined) continue;
        if (raw === null) seen.ms.push(ms);
        else {
          seen.rawMs.push(raw.ms);
          seen.equal &&= raw.equal;
        }
      }
    }
  }
}

const nameOf = ({ events, days }: Shape): string => `${short(events)} events, ${days} days`;

function print(measured: readonly Measured[], shapes: readonly Shape[]): void {
  const [small, ...larger] = shapes.map(nameOf);
  const header = [
    'endpoint',
    `ms: ${small}`,
    ...larger.flatMap((shape) => [`ms: ${shape}`, 'ratio']),
    'equal',
  ];
  const rows = [...new Set(measured.map(({ endpoint }) => endpoint))].map((endpoint) => {
    const own = measured.filter((entry) => entry.endpoint === endpoint);
    const [first = Number.NaN, ...others] = own.map(({ ms }) => median(ms));
    return [
      endpoint,
      figure(first),
      ...others.flatMap((ms) => [figure(ms), `${figure(ms / first)}×`]),
      own.every(({ equal }) => equal) ? 'yes' : 'NO',
    ];
  });
  console.log(`\n${table(header, rows, 1)}`);
}
