import { MAX_LENGTH } from '../../ingestion/context.ts';
import { logVisitorId } from '../../ingestion/log-sessions.ts';
import { cleanText } from '../../ingestion/text.ts';
import { validatePath } from '../../ingestion/validate-event.ts';
import { CliError } from '../cli-error.ts';
import { type Format, type Read, type Reader, readerOf, recognise } from './formats.ts';
import { openInput } from './input.ts';
import { logText } from './items.ts';
import { type Line, linesOf } from './lines.ts';
import type { Progress } from './progress.ts';
import { Samples } from './samples.ts';
import { SpoolWriter } from './spool.ts';
import type { ReadPart, Source, StateFolder } from './state.ts';

export interface ReadOptions {
  /** Null: standard input. */
  readonly files: readonly string[] | null;
  readonly sources: readonly Source[];
  readonly app: string;
  /** Null: by the content of each file. */
  readonly format: Format | null;
  readonly folder: StateFolder;
  readonly progress: Progress;
}

/** Reads the files and sorts their records into `folder`. */
export async function readSources(options: ReadOptions): Promise<ReadPart> {
  const { files, sources, progress } = options;
  const all = files === null ? null : sources.reduce((sum, { size }) => sum + size, 0);
  const reading = new Reading(options);
  progress.begin('Reading');
  let before = 0;
  for (const [index, path] of (files ?? [null]).entries()) {
    const input = openInput(path);
    const lines = reading.input(index);
    for await (const batch of linesOf(input.bytes)) {
      await lines(batch);
      progress.show(() => ({ done: before + input.position(), all, lines: reading.count, events: null }));
    }
    before += input.position();
  }
  return reading.end();
}

class Reading {
  readonly #options: ReadOptions;
  readonly #spool: SpoolWriter;
  readonly #malformed: Samples;
  readonly #skipped = { assets: 0, errors: 0, methods: 0, bots: 0, malformed: 0 };
  /** Sessions or requests: they are grouped in different ways. */
  #kind: ReadPart['kind'] | null = null;
  #lines = 0;
  #records = 0;

  constructor(options: ReadOptions) {
    const { files, folder, progress } = options;
    this.#options = options;
    this.#spool = new SpoolWriter(folder.path);
    this.#malformed = new Samples('malformed', files ?? [STDIN], (text) => progress.say(text));
  }

  get count(): number {
    return this.#lines;
  }

  /** Returns a function that takes the lines of the input with this index. */
  input(index: number): (lines: readonly Line[]) => Promise<void> {
    const { format } = this.#options;
    let reader = format === null ? null : this.#readerOf(format, index);
    return async (lines) => {
      if (reader === null) {
        const found = recognise(lines);
        if (found !== null) reader = this.#readerOf(found, index);
      }
      for (const line of lines) {
        if (line.text.trim() === '') continue;
        const read = reader === null ? 'malformed' : reader(line.text);
        if (read !== null) await this.#take(index, line, read);
      }
    };
  }

  async end(): Promise<ReadPart> {
    this.#malformed.end();
    return {
      kind: this.#kind ?? 'sessions',
      runs: [...(await this.#spool.end())],
      records: this.#records,
      lines: this.#lines,
      skipped: this.#skipped,
    };
  }

  #readerOf(format: Format, index: number): Reader {
    const kind = format === 'ndjson' ? 'sessions' : 'requests';
    if (this.#kind !== null && this.#kind !== kind) {
      const name = this.#options.files?.[index] ?? STDIN;
      throw new CliError(`${name} holds ${kind}, and the file before it ${this.#kind}: import them apart.`);
    }
    this.#kind = kind;
    return readerOf(format);
  }

  /** Waits only if the spool writes. */
  #take(input: number, { text, number: line }: Line, read: Exclude<Read, null>): Promise<void> | undefined {
    this.#lines++;
    if (typeof read === 'string') {
      this.#skipped[read]++;
      if (read === 'malformed') this.#malformed.add(input, line, text);
      return undefined;
    }
    this.#records++;
    if ('key' in read) {
      const { startedAt: at, key, events } = read;
      return this.#spool.add({ at, key, events, input, line, text });
    }
    const { address, at, path, referrer, userAgent } = read;
    const visitor = logVisitorId(this.#options.app, address, userAgent);
    // Without the query, which is not stored: equal events are found by their stored path.
    const page = validatePath(path) ?? path;
    const record = { at, key: 0, events: 1, input, line };
    const source = cleanText(referrer, MAX_LENGTH.referrer);
    return this.#spool.add({ ...record, text: logText(visitor, userAgent, page, source) });
  }
}

const STDIN = 'standard input';
