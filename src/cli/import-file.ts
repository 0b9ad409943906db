import { z } from 'zod';
import type { EpochMs } from '../domain/time.ts';
import { type LogRequest, parseCombined, type SkipReason } from '../ingestion/combined-log.ts';
import { LogSessions } from '../ingestion/log-sessions.ts';
import { countEvents } from '../ingestion/wire.ts';
import { LineFile } from './file-lines.ts';
import { Repeats } from './repeats.ts';

export type LogFormat = 'ndjson' | 'combined';

/**
 * The result of an import. For an access log without blank lines, `lines` = `events` + skipped +
 * `duplicates`.
 */
export interface ImportSummary {
  readonly lines: number;
  /** Sessions and events that this run stored. */
  readonly sessions: number;
  readonly events: number;
  readonly skipped: Readonly<Record<'assets' | 'errors' | 'methods' | 'bots' | 'malformed', number>>;
  /** Events that were skipped because they are stored already. */
  readonly duplicates: number;
}

export interface ImportOptions {
  readonly file: string;
  readonly app: string;
  /** Null: NDJSON if the first line starts with `{`, otherwise an access log. */
  readonly format: LogFormat | null;
  readonly now: EpochMs;
  /** Sends sessions to the service, as the JSON text of an import's body. Resolves to the parsed answer. */
  readonly send: (body: string) => Promise<unknown>;
  readonly progress: (text: string) => void;
}

/** Limits of a request. The service stores a request in one insert. */
const CHUNK = { events: 40_000, characters: 4 * 1024 ** 2 } as const;
/** While one chunk is stored, others are sent and checked. */
const CHUNKS_IN_FLIGHT = 3;
const PROGRESS_EVERY_MS = 1_000;

/**
 * Reads `file`, sends it chunk by chunk and adds up the results. Safe to interrupt and repeat. Rejects with
 * CliError.
 */
export async function importFile(options: ImportOptions): Promise<ImportSummary> {
  const file = await LineFile.open(options.file);
  try {
    const run = new ImportRun(options, new Repeats(options.now, (offset) => file.lineAt(offset)));
    for await (const { text, offset } of file.lines()) {
      if (text.trim() !== '') await run.line(text, offset);
    }
    return await run.end();
  } finally {
    await file.close();
  }
}

/** Sessions as JSON texts, each with its key. */
interface Chunk {
  readonly items: string[];
  readonly keys: (string | null)[];
  events: number;
  characters: number;
  /** True if some events may equal those of an earlier chunk, which has to be stored first. */
  hasRepeats: boolean;
}

const newChunk = (): Chunk => ({ items: [], keys: [], events: 0, characters: 0, hasRepeats: false });

class ImportRun {
  readonly #options: ImportOptions;
  readonly #repeats: Repeats;
  readonly #log: LogSessions;
  readonly #skipped = { assets: 0, errors: 0, methods: 0, bots: 0, malformed: 0 };
  readonly #sums = { lines: 0, sessions: 0, events: 0, duplicates: 0, rejected: 0 };
  readonly #inFlight = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;
  #format: LogFormat | null;
  #chunk = newChunk();
  #nextProgress = 0;

  constructor(options: ImportOptions, repeats: Repeats) {
    this.#options = options;
    this.#repeats = repeats;
    this.#format = options.format;
    this.#log = new LogSessions(options.app);
  }

  async line(text: string, offset: number): Promise<void> {
    this.#sums.lines++;
    this.#format ??= text.trimStart().startsWith('{') ? 'ndjson' : 'combined';
    if (this.#format === 'combined') return this.#request(parseCombined(text));
    const sent = parseJson(text);
    if (sent === undefined) this.#skipped.malformed++;
    else await this.#session(sent, text, offset);
  }

  async end(): Promise<ImportSummary> {
    for (const session of this.#log.sessions()) await this.#session(session, JSON.stringify(session), 0);
    await this.#flush();
    await this.#untilInFlight(0);
    const { rejected, lines, sessions, events, duplicates } = this.#sums;
    this.#options.progress(
      `${lines} lines read, ${events} events stored, ${duplicates} were stored already.\n`,
    );
    if (rejected > 0) this.#options.progress(`${rejected} events were rejected.\n`);
    return { lines, sessions, events, skipped: this.#skipped, duplicates };
  }

  #request(request: LogRequest | SkipReason): void {
    if (typeof request === 'string') this.#skipped[request]++;
    else this.#log.add(request);
  }

  /** `text` is `sent` as JSON. */
  async #session(sent: unknown, text: string, offset: number): Promise<void> {
    const events = countEvents([sent]);
    // The importer sets `occurrence` itself; a file must not.
    const isOdd = events > CHUNK.events || text.includes('"occurrence"');
    const { key, counted } = await this.#repeats.add(sent, offset, isOdd);
    if (counted === null) return this.#add(text, key, events, false);
    for (let from = 0; from < counted.events.length; from += CHUNK.events) {
      const part = counted.events.slice(from, from + CHUNK.events);
      await this.#add(JSON.stringify({ ...counted, events: part }), key, part.length, true);
    }
  }

  async #add(text: string, key: string | null, events: number, isRepeat: boolean): Promise<void> {
    const { items, events: held, characters } = this.#chunk;
    const isFull = held + events > CHUNK.events || characters + text.length > CHUNK.characters;
    if (items.length > 0 && isFull) await this.#flush();
    const chunk = this.#chunk;
    chunk.items.push(text);
    chunk.keys.push(key);
    chunk.events += events;
    chunk.characters += text.length;
    chunk.hasRepeats ||= isRepeat;
  }

  async #flush(): Promise<void> {
    const chunk = this.#chunk;
    this.#chunk = newChunk();
    if (chunk.items.length === 0) return;
    await this.#untilInFlight(chunk.hasRepeats ? 0 : CHUNKS_IN_FLIGHT - 1);
    const sending = this.#send(chunk)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
  }

  /** Throws the error of a chunk that was sent. */
  async #untilInFlight(chunks: number): Promise<void> {
    while (this.#inFlight.size > chunks) await Promise.race(this.#inFlight);
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #send({ items, keys }: Chunk): Promise<void> {
    const answer = ImportAnswer.parse(await this.#options.send(`{"sessions":[${items.join(',')}]}`));
    this.#sums.events += answer.events;
    this.#sums.duplicates += answer.duplicates;
    for (const { event, code } of answer.rejected) {
      if (event === null) this.#skipped[skipReason(code)]++;
      else this.#sums.rejected++;
    }
    for (const index of answer.sessions) {
      const key = keys[index] ?? null;
      if (key !== null && this.#repeats.store(key)) this.#sums.sessions++;
    }
    if (performance.now() < this.#nextProgress) return;
    this.#nextProgress = performance.now() + PROGRESS_EVERY_MS;
    this.#options.progress(
      `${this.#sums.events} events stored, ${this.#sums.duplicates} were stored already`,
    );
  }
}

const ImportAnswer = z.object({
  sessions: z.array(z.int()),
  events: z.int(),
  duplicates: z.int(),
  rejected: z.array(z.object({ event: z.int().nullable(), code: z.string() })),
});

const skipReason = (code: string): 'bots' | 'malformed' => (code === 'bot' ? 'bots' : 'malformed');

/** Undefined for text that is no JSON. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
