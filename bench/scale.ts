import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { z } from 'zod';
import { scriptBeside } from '../test/support/program.ts';
import { casesOf } from './cases.ts';
import { progress } from './progress.ts';
import { AnswerSchema, type AskSchema } from './protocol.ts';
import type { Shape } from './shape.ts';
import { median, percentile, rounded } from './statistics.ts';
import { figure, short, table } from './table.ts';

/** One line of the JSON file. */
interface ScaleRecord {
  readonly endpoint: string;
  readonly range: string;
  readonly events: number;
  readonly days: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rawP50Ms: number;
  /** rawP50Ms / p50Ms */
  readonly ratio: number;
  readonly equalToRaw: boolean;
  /** p50Ms divided by the p50Ms with a tenth of the events. */
  readonly timesSmallest: number;
}

interface Worker {
  readonly shape: Shape;
  ask(message: z.infer<typeof AskSchema>): Promise<z.infer<typeof AnswerSchema>>;
  close(): Promise<void>;
}

const WORKER = scriptBeside(import.meta.url, 'worker');
const RAW_RUNS = 3;

/**
 * Asks ranges of whole sealed days on three data sets: the first, one with ten times its traffic in the same
 * days, and one with ten times its days at the same traffic. All three are open at once and asked in turns,
 * so that noise affects all of them alike.
 */
export async function benchScale(
  dir: string,
  events: number,
  days: number,
  runs: number,
): Promise<{ readonly records: ScaleRecord[]; readonly exact: boolean }> {
  const shapes = [
    { events: Math.round(events / 10), days },
    { events, days },
    { events, days: days * 10 },
  ];
  const workers: Worker[] = [];
  try {
    for (const shape of shapes) workers.push(await startWorker(dir, shape));
    const records = await measureAll(workers, runs);
    print(records, shapes);
    return { records, exact: records.every(({ equalToRaw }) => equalToRaw) };
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

async function startWorker(dir: string, shape: Shape): Promise<Worker> {
  const child = fork(WORKER.path, [dir, String(shape.events), String(shape.days)], {
    execArgv: WORKER.loader,
  });
  await nextMessage(child);
  return {
    shape,
    ask: async (message) => {
      child.send(message);
      return AnswerSchema.parse(await nextMessage(child));
    },
    close: async () => {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const message = once(child, 'message', { signal }).then(([first]) => first as unknown);
    const exit = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`the process of a data set ended: ${code}`);
    });
    return await Promise.race([message, exit]);
  } finally {
    ended.abort();
  }
}

async function measureAll(workers: readonly Worker[], runs: number): Promise<ScaleRecord[]> {
  const records: ScaleRecord[] = [];
  const cases = workers.slice(0, 1).flatMap(({ shape }) => casesOf(shape));
  for (const { endpoint, range } of cases.filter((entry) => entry.range === 'aligned')) {
    progress(`${endpoint}, ${range}`);
    const times = workers.map(() => ({ ms: [] as number[], rawMs: [] as number[], equal: true }));
    for (let run = -RAW_RUNS; run < runs; run++) {
      for (const [index, worker] of workers.entries()) {
        const seen = times[index];
        const { ms, raw } = await worker.ask({ endpoint, range, withRaw: run < 0 });
        if (seen === undefined) continue;
        if (raw === null) seen.ms.push(ms);
        else {
          seen.rawMs.push(raw.ms);
          seen.equal &&= raw.equal;
        }
      }
    }
    const smallest = median(times[0]?.ms ?? []);
    for (const [index, { ms, rawMs, equal }] of times.entries()) {
      const shape = workers[index]?.shape;
      if (shape === undefined) continue;
      records.push({
        endpoint,
        range,
        ...shape,
        p50Ms: rounded(median(ms)),
        p99Ms: rounded(percentile(ms, 0.99)),
        rawP50Ms: rounded(median(rawMs)),
        ratio: rounded(median(rawMs) / median(ms)),
        equalToRaw: equal,
        timesSmallest: rounded(median(ms) / smallest),
      });
    }
  }
  progress(null);
  return records;
}

function print(records: readonly ScaleRecord[], shapes: readonly Shape[]): void {
  const name = ({ events, days }: Shape): string => `${short(events)}, ${days} days`;
  const [small, ...larger] = shapes.map(name);
  const header = [
    'endpoint',
    `ms: ${small}`,
    ...larger.flatMap((shape) => [`ms: ${shape}`, 'ratio']),
    'equal',
  ];
  const rows = [...new Set(records.map(({ endpoint }) => endpoint))].map((endpoint) => {
    const [first, ...others] = records.filter((record) => record.endpoint === endpoint);
    return [
      endpoint,
      figure(first?.p50Ms ?? Number.NaN),
      ...others.flatMap(({ p50Ms, timesSmallest }) => [figure(p50Ms), `${figure(timesSmallest)}×`]),
      [first, ...others].every((record) => record?.equalToRaw) ? 'yes' : 'NO',
    ];
  });
  console.log(`\n${table(header, rows, 1)}`);
}
