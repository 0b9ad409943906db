import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { EpochMs } from '../domain/time.ts';
import { type LogRequest, parseCombined, type SkipReason } from '../ingestion/combined-log.ts';
import { eventIdentity } from '../ingestion/history.ts';
import { LogSessions } from '../ingestion/log-sessions.ts';
import { validateSessions } from '../ingestion/validate.ts';
import type { RejectionCode } from '../ingestion/validate-event.ts';
import { CliError } from './cli-error.ts';

export type LogFormat = 'ndjson' | 'combined';

/** What an import did. Without blank lines, `lines` = `events` + skipped + `duplicates` for an access log. */
export interface ImportSummary {
  readonly lines: number;
  /** Sessions and events that this run stored. */
  readonly sessions: number;
  readonly events: number;
  readonly skipped: Readonly<Record<'assets' | 'errors' | 'methods' | 'bots' | 'malformed', number>>;
  /** Events left out because they were there. */
  readonly duplicates: number;
}

export interface ImportOptions {
  readonly file: string;
  readonly app: string;
  /** Null: NDJSON if the first line starts with `{`. */
  readonly format: LogFormat | null;
  readonly now: EpochMs;
  /** Hands some sessions to the service; its answer as it came. */
  readonly send: (sessions: readonly unknown[]) => Promise<unknown>;
  readonly progress: (text: string) => void;
}

const CHUNK = { events: 10_000, bytes: 4 * 1024 ** 2 } as const;
const PROGRESS_EVERY_MS = 1_000;

/** Reads `file`, sends it chunk by chunk and sums up. Safe to interrupt and repeat. Rejects with CliError. */
export async function importFile(options: ImportOptions): Promise<ImportSummary> {
  const run = new ImportRun(options);
  for await (const line of linesOf(options.file)) {
    if (line.trim() !== '') await run.line(line);
  }
  return run.end();
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const info = await stat(file).catch(() => null);
  if (info === null || !info.isFile()) throw new CliError(`There is no file ${file}.`);
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}

interface Item {
  readonly id: string;
  readonly startedAt: EpochMs;
  readonly sent: Readonly<Record<string, unknown>>;
}

class ImportRun {
  readonly #options: ImportOptions;
  readonly #log: LogSessions;
  readonly #occurrences = new Occurrences();
  readonly #skipped = { assets: 0, errors: 0, methods: 0, bots: 0, malformed: 0 };
  readonly #stored = new Set<string>();
  readonly #sums = { lines: 0, events: 0, duplicates: 0, rejected: 0 };
  #format: LogFormat | null;
  #chunk: { items: Item[]; events: number; bytes: number } = { items: [], events: 0, bytes: 0 };
  /** One chunk is on its way while the next is read. */
  #sending: Promise<void> = Promise.resolve();
  #nextProgress = 0;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#format = options.format;
    this.#log = new LogSessions(options.app);
  }

  async line(line: string): Promise<void> {
    this.#sums.lines++;
    this.#format ??= line.trimStart().startsWith('{') ? 'ndjson' : 'combined';
    if (this.#format === 'ndjson') await this.#session(parseJson(line), line.length);
    else this.#request(parseCombined(line));
  }

  async end(): Promise<ImportSummary> {
    for (const session of this.#log.sessions()) await this.#session(session, session.events.length * 150);
    await this.#flush();
    await this.#sending;
    const { lines, events, duplicates, rejected } = this.#sums;
    this.#options.progress(`${lines} lines read, ${events} events stored, ${duplicates} were there.\n`);
    if (rejected > 0) this.#options.progress(`${rejected} events were rejected.\n`);
    return { lines, sessions: this.#stored.size, events, skipped: this.#skipped, duplicates };
  }

  #request(request: LogRequest | SkipReason): void {
    if (typeof request === 'string') this.#skipped[request]++;
    else this.#log.add(request);
  }

  async #session(value: unknown, bytes: number): Promise<void> {
    const rules = { now: this.#options.now, maxAgeDays: null, userAgent: '' };
    const { sessions, rejected } = validateSessions([value], rules);
    for (const { event, code } of rejected) {
      if (event === null) this.#skipped[skipReason(code)]++;
      else this.#sums.rejected++;
    }
    for (const session of sessions) {
      const sent = value as { readonly events: readonly object[] };
      const events = session.events.map((event) => {
        const occurrence = this.#occurrences.next(eventIdentity(session, event));
        const own = sent.events[event.position] ?? {};
        return occurrence === 1 && !('occurrence' in own) ? own : { ...own, occurrence };
      });
      for (let i = 0; i < events.length; i += CHUNK.events) {
        const part = events.slice(i, i + CHUNK.events);
        await this.#add({ ...session, sent: { ...sent, events: part } }, part.length, bytes);
      }
    }
  }

  async #add(item: Item, events: number, bytes: number): Promise<void> {
    const { items, events: held, bytes: size } = this.#chunk;
    if (items.length > 0 && (held + events > CHUNK.events || size + bytes > CHUNK.bytes)) await this.#flush();
    this.#chunk.items.push(item);
    this.#chunk.events += events;
    this.#chunk.bytes += bytes;
  }

  async #flush(): Promise<void> {
    const { items } = this.#chunk;
    this.#chunk = { items: [], events: 0, bytes: 0 };
    await this.#sending;
    if (items.length === 0) return;
    this.#sending = this.#send(items);
    // Awaited before the next one; a failure is not to end the process before.
    this.#sending.catch(() => undefined);
  }

  async #send(items: readonly Item[]): Promise<void> {
    const answer = ImportAnswer.parse(await this.#options.send(items.map(({ sent }) => sent)));
    this.#sums.events += answer.events;
    this.#sums.duplicates += answer.duplicates;
    this.#sums.rejected += answer.rejected.length;
    for (const index of answer.sessions) {
      const item = items[index];
      if (item !== undefined) this.#stored.add(`${item.id} ${item.startedAt}`);
    }
    if (performance.now() < this.#nextProgress) return;
    this.#nextProgress = performance.now() + PROGRESS_EVERY_MS;
    this.#options.progress(`${this.#sums.events} events stored, ${this.#sums.duplicates} were there`);
  }
}

const ImportAnswer = z.object({
  sessions: z.array(z.int()),
  events: z.int(),
  duplicates: z.int(),
  rejected: z.array(z.unknown()),
});

const skipReason = (code: RejectionCode): 'bots' | 'malformed' => (code === 'bot' ? 'bots' : 'malformed');

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The V8 engine holds 16.7 million entries per Map. */
const SHARDS = 64;

/** How many equal events came so far, over the whole file: about 80 bytes for each different one. */
class Occurrences {
  readonly #counts = Array.from({ length: SHARDS }, () => new Map<string, number>());

  next(identity: string): number {
    const digest = createHash('sha1').update(identity).digest('base64').slice(0, 16);
    const counts = this.#counts[digest.charCodeAt(0) % SHARDS];
    const occurrence = (counts?.get(digest) ?? 0) + 1;
    counts?.set(digest, occurrence);
    return occurrence;
  }
}
