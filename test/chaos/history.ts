/** Counts of all that happened. */
export interface Counts {
  steps: number;
  batches: number;
  events: number;
  /** Batches sent again: with an unknown outcome, or to test that a repetition stores nothing. */
  repeats: number;
  questions: number;
  exact: number;
  bounded: number;
  notModified: number;
  refused: number;
  kills: number;
  restarts: number;
  pauses: number;
  redisFlushes: number;
  redisRestarts: number;
  storePauses: number;
  rebuilds: number;
  deletions: number;
  /** Sealing runs in the service's log. */
  sealed: number;
  wrong: number;
}

export const noCounts = (): Counts => ({
  steps: 0,
  batches: 0,
  events: 0,
  repeats: 0,
  questions: 0,
  exact: 0,
  bounded: 0,
  notModified: 0,
  refused: 0,
  kills: 0,
  restarts: 0,
  pauses: 0,
  redisFlushes: 0,
  redisRestarts: 0,
  storePauses: 0,
  rebuilds: 0,
  deletions: 0,
  sealed: 0,
  wrong: 0,
});

const KEPT_LINES = 80;
const LONGEST = 3_000;

/** Remembers the last events of the story, and reports failures at once. */
export class History {
  readonly counts = noCounts();
  readonly failures: string[] = [];
  step = 0;
  readonly #lines: string[] = [];
  readonly #started = Date.now();
  readonly #replay: () => string;
  readonly #print: (text: string) => void;

  constructor(replay: () => string, print: (text: string) => void) {
    this.#replay = replay;
    this.#print = print;
  }

  happened(what: string): void {
    this.#lines.push(`${String(Date.now() - this.#started).padStart(7)} ms  ${what}`);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
  }

  wrong(what: string, details: readonly string[]): void {
    this.counts.wrong += 1;
    this.happened(`WRONG ${what}`);
    const text = [
      `WRONG in step ${this.step}: ${what}`,
      ...details.map((detail) => detail.slice(0, LONGEST)),
      'What happened before:',
      ...this.#lines,
      `Again: ${this.#replay()}`,
      '',
    ].join('\n');
    this.failures.push(text);
    this.#print(text);
  }
}

/** Describes where two answers differ. */
export function differences(got: unknown, expected: unknown, path = ''): string[] {
  if (Object.is(got, expected)) return [];
  if (typeof got !== 'object' || typeof expected !== 'object' || got === null || expected === null) {
    return [`${path || '(whole)'}: got ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`];
  }
  return [...new Set([...Object.keys(got), ...Object.keys(expected)])].flatMap((key) =>
    differences(Reflect.get(got, key), Reflect.get(expected, key), path === '' ? key : `${path}.${key}`),
  );
}
