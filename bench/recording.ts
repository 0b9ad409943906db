import { setMaxListeners } from 'node:events';
import { Progress } from './progress.ts';
import { environment, load } from './result/environment.ts';
import { writeFile } from './result/file.ts';
import { type Case, type Environment, type Result, VERSION } from './result/schema.ts';

interface Files {
  readonly command: string;
  /** The address of a deployment; null for this machine. */
  readonly target: string | null;
  readonly json: string | null;
  readonly html: string | null;
}

type Told = Pick<Case, 'bench' | 'name' | 'measure' | 'unit' | 'runs'> & Partial<Case>;

/** npm passes a signal on that the terminal has sent to the whole group already. */
const SAME_SIGNAL_MS = 1_000;

/** Collects what benches measure. A file has everything from the first case on, also after a kill. */
export class Recording {
  readonly progress = new Progress();
  readonly #files: Files;
  readonly #environment: Environment;
  readonly #startedAt = new Date().toISOString();
  readonly #cases: Case[] = [];
  readonly #notes: string[] = [];
  readonly #stop = new AbortController();
  #toldToStop = 0;
  failed = false;

  constructor(files: Files) {
    this.#files = files;
    this.#environment = environment(files.target);
    // Each request that is under way listens, and there may be hundreds.
    setMaxListeners(0, this.#stop.signal);
    process.on('SIGINT', this.#interrupted);
    process.on('SIGTERM', this.#interrupted);
  }

  /** Aborts what waits, once the user interrupts. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** True once the user has interrupted. A bench then records what it has, and ends. */
  get stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  get cases(): readonly Case[] {
    return this.#cases;
  }

  /** Adds a case of the service, for which lower is better, unless it says otherwise. Without runs it is left out. */
  record(told: Told): void {
    const runs = told.runs.filter(Number.isFinite);
    if (runs.length === 0) return;
    const standard = { better: 'lower' as const, ofService: true, labels: {}, histogram: null, exact: null };
    this.#cases.push({ ...standard, ...told, runs: runs.map((run) => Number(run.toPrecision(6))) });
    this.#write(false);
  }

  /** A remark for the reader of the report. */
  note(text: string): void {
    this.progress.end();
    console.error(text);
    this.#notes.push(text);
  }

  /** A part of a suite failed. The others go on, and the exit code is 1. */
  fail(text: string): void {
    this.failed = true;
    this.note(text);
  }

  /** Writes the files for the last time. The plots' library is loaded only for a page. */
  async end(complete: boolean): Promise<void> {
    process.off('SIGINT', this.#interrupted);
    process.off('SIGTERM', this.#interrupted);
    this.progress.end();
    if (this.#cases.length === 0) {
      if (this.#files.json !== null || this.#files.html !== null) {
        console.error('Nothing was measured, so no file was written.');
      }
      return;
    }
    const result = this.#write(complete, true);
    if (this.#files.html !== null) (await import('./report/page.ts')).writePage(result, this.#files.html);
    for (const file of [this.#files.json, this.#files.html])
      if (file !== null) console.error(`Wrote ${file}`);
  }

  #write(complete: boolean, isLast = false): Result {
    const result: Result = {
      format: 'session-analytics-bench',
      version: VERSION,
      command: this.#files.command,
      startedAt: this.#startedAt,
      endedAt: new Date().toISOString(),
      complete,
      environment: { ...this.#environment, loadAfter: load() },
      notes: this.#notes,
      cases: this.#cases,
    };
    if (this.#files.json !== null) writeFile(this.#files.json, `${JSON.stringify(result)}\n`, isLast);
    return result;
  }

  readonly #interrupted = (): void => {
    const now = performance.now();
    if (this.#toldToStop > 0 && now - this.#toldToStop > SAME_SIGNAL_MS) process.exit(130);
    if (this.#toldToStop > 0) return;
    this.#toldToStop = now;
    this.progress.end();
    console.error('Stopping. What was measured is kept. Interrupt again to end at once.');
    this.#stop.abort();
  };
}
