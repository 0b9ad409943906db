import { createHash } from 'node:crypto';
import { isMalformed, type Malformed, REQUEST_FIELD } from '../../ingestion/access-log.ts';
import { MAX_LENGTH } from '../../ingestion/context.ts';
import { logVisitorId } from '../../ingestion/log-sessions.ts';
import { cleanText } from '../../ingestion/text.ts';
import { validatePath } from '../../ingestion/validate-event.ts';
import { CliError } from '../cli-error.ts';
import { type FileReader, type Format, type Read, readerOf, recognise, UNKNOWN } from './formats.ts';
import { openInput } from './input.ts';
import { logText } from './items.ts';
import { type Line, linesOf } from './lines.ts';
import type { Progress } from './progress.ts';
import { plain, Samples } from './samples.ts';
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

/** Thrown if no line of a file can be read. Nothing was sent. */
export class Unreadable extends CliError {
  readonly lines: number;
  readonly skipped: ReadPart['skipped'];

  constructor(message: string, { lines, skipped }: Pick<ReadPart, 'lines' | 'skipped'>) {
    super(message);
    this.lines = lines;
    this.skipped = skipped;
  }
}

/** Reads the files and sorts their records into `folder`. Rejects with `Moved` if one of them is another one now. */
export async function readSources(options: ReadOptions): Promise<ReadPart> {
  const { files, sources, progress } = options;
  const all = files === null ? null : sources.reduce((sum, { size }) => sum + size, 0);
  const reading = new Reading(options);
  progress.begin('Reading');
  let before = 0;
  for (const [index, path] of (files ?? [null]).entries()) {
    const input = openInput(path, sources[index]?.inode ?? null);
    const lines = reading.input(index);
    for await (const batch of linesOf(input.bytes)) {
      await lines(batch);
      progress.show(() => ({ done: before + input.position(), all, lines: reading.count, events: null }));
    }
    before += input.position();
  }
  return reading.end();
}

/** What was found in one input. */
interface Found {
  lines: number;
  isReadable: boolean;
  /** True if the last line has no end. */
  isCut: boolean;
  /** The first line that cannot be read. */
  fault: { readonly line: number; readonly why: string } | null;
  first: number | null;
  last: number;
}

class Reading {
  readonly #options: ReadOptions;
  readonly #spool: SpoolWriter;
  readonly #malformed: Samples;
  readonly #skipped = { assets: 0, errors: 0, methods: 0, bots: 0, malformed: 0 };
  readonly #names: readonly string[];
  readonly #found: Found[] = [];
  /** Sessions or requests: they are grouped in different ways. */
  #kind: ReadPart['kind'] | null = null;
  #lines = 0;
  #records = 0;

  constructor(options: ReadOptions) {
    const { files, folder, progress } = options;
    this.#options = options;
    this.#spool = new SpoolWriter(folder.path);
    this.#names = files ?? ['standard input'];
    this.#malformed = new Samples('malformed', this.#names, (text) => progress.say(text));
  }

  get count(): number {
    return this.#lines;
  }

  /** Returns a function that takes the lines of the input with this index. */
  input(index: number): (lines: readonly Line[]) => Promise<void> {
    const { format } = this.#options;
    const found: Found = { lines: 0, isReadable: false, isCut: false, fault: null, first: null, last: 0 };
    this.#found.push(found);
    const opened = (reader: FileReader): FileReader['read'] => {
      this.#isOf(reader.kind, index);
      return reader.read;
    };
    let read = format === null ? null : opened(readerOf(format));
    return async (lines) => {
      if (read === null) {
        const reader = recognise(lines);
        if (reader !== null) read = opened(reader);
      }
      for (const line of lines) {
        if (line.text.trim() === '') continue;
        const content = read === null ? UNKNOWN : read(line);
        if (content !== null) await this.#take(index, found, line, content);
      }
    };
  }

  async end(): Promise<ReadPart> {
    this.#malformed.end();
    const [lines, skipped] = [this.#lines, this.#skipped];
    for (const [index, { fault, ...found }] of this.#found.entries()) {
      // The first line of a log may be being written. It is read the next time.
      const isOnlyBegun = found.lines === 1 && found.isCut && this.#found.length > 1;
      if (fault === null || found.isReadable || isOnlyBegun) continue;
      const message = `Nothing was imported: no line of ${this.#names[index] ?? ''} can be read. Line ${fault.line}: ${fault.why}. See import --help for the formats.`;
      throw new Unreadable(message, { lines, skipped });
    }
    return {
      kind: this.#kind ?? 'sessions',
      runs: [...(await this.#spool.end())],
      records: this.#records,
      lines,
      skipped,
      spans: this.#found.map(spanOf),
    };
  }

  #isOf(kind: ReadPart['kind'], index: number): void {
    if (this.#kind !== null && this.#kind !== kind) {
      throw new CliError(
        `${this.#names[index] ?? ''} holds ${kind}, and the file before it ${this.#kind}: import them apart.`,
      );
    }
    this.#kind = kind;
  }

  /** Waits only if the spool writes. */
  #take(
    input: number,
    found: Found,
    { text, number: line, isCut }: Line,
    read: Exclude<Read, null>,
  ): Promise<void> | undefined {
    this.#lines++;
    found.lines++;
    found.isCut = isCut === true;
    if (isMalformed(read)) {
      this.#skipped.malformed++;
      this.#note(input, found, line, text, read);
      return undefined;
    }
    found.isReadable = true;
    if ('key' in read) {
      this.#records++;
      const { startedAt: at, key, events } = read;
      return this.#spool.add({ at, key, events, input, line, text });
    }
    found.first ??= read.at;
    found.last = read.at;
    if ('skip' in read) {
      this.#skipped[read.skip]++;
      return undefined;
    }
    this.#records++;
    const { address, at, path, referrer, userAgent } = read;
    const visitor = logVisitorId(this.#options.app, address, userAgent);
    // Without the query, which is not stored: equal events are found by their stored path.
    const page = validatePath(path) ?? path;
    const source = cleanText(referrer, MAX_LENGTH.referrer);
    const record = { at, key: 0, events: 1, input, line };
    const hash = this.#names.length > 1 ? [lineHash(text)] : [];
    return this.#spool.add({ ...record, text: logText(visitor, userAgent, page, source, ...hash) });
  }

  #note(input: number, found: Found, line: number, text: string, { field, reason }: Malformed): void {
    const why = plain(field === '' ? reason : `${field}: ${reason}`);
    found.isReadable ||= field === REQUEST_FIELD;
    found.fault ??= { line, why };
    this.#malformed.add(input, line, text, why);
  }
}

const spanOf = ({ first, last }: Found): [number, number] | null => (first === null ? null : [first, last]);

/** 48 bits, which tell the lines of a second apart. */
const lineHash = (line: string): number => createHash('sha1').update(line).digest().readUIntBE(0, 6);
