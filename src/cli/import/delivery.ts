import { z } from 'zod';
import type { ChunkSize, Item } from './items.ts';
import type { Send } from './patience.ts';
import type { ReadPart, SentPart } from './state.ts';

/** While one chunk is stored, others are sent and checked. */
const CHUNKS_IN_FLIGHT = 3;

/** A session or event that the service rejected. */
export interface Rejected {
  readonly item: Item;
  /** Null: the whole session. */
  readonly event: number | null;
  readonly code: string;
  readonly message: string;
}

export interface DeliveryOptions {
  readonly kind: ReadPart['kind'];
  /** The most that a chunk holds, unless a single item is larger. */
  readonly chunk: ChunkSize;
  readonly send: Send;
  /** Chunks that an earlier run has delivered. They are counted and not sent. */
  readonly sent: SentPart;
  /** Called when the first chunks are acknowledged, with their sums. */
  readonly acknowledged: (sent: SentPart) => void;
  readonly rejected: (rejected: Rejected) => void;
}

class Chunk {
  readonly items: Item[] = [];
  events = 0;
  characters = 0;
  /** The records that were read for it and for the chunks before it. */
  records = 0;
  /** True if a session goes on, or follows on one, that an earlier chunk holds. That chunk has to be stored first. */
  waits = false;
  readonly #sessions = new Set<string>();

  add(item: Item): void {
    const before = item.isFirst ? item.follows : item.session;
    this.waits ||= before !== null && !this.#sessions.has(before);
    this.#sessions.add(item.session);
    this.items.push(item);
    this.events += item.events;
    this.characters += item.text.length;
  }

  hasRoom({ events, text }: Item, most: ChunkSize): boolean {
    if (this.items.length === 0) return true;
    return this.events + events <= most.events && this.characters + text.length <= most.characters;
  }
}

/** Sends items in chunks, which depend on the items alone, and adds up the answers in the order of the chunks. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #inFlight = new Set<Promise<void>>();
  /** Answers to chunks that wait for an earlier one. */
  readonly #answers = new Map<number, { readonly chunk: Chunk; readonly answer: Answer }>();
  #failure: { readonly error: unknown } | null = null;
  #chunk = new Chunk();
  #cut = 0;
  #sums: SentPart;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#sums = options.sent;
  }

  /** The sums of all acknowledged chunks. */
  get sums(): SentPart {
    return this.#sums;
  }

  /** `records`: the number of records that were read so far. */
  async add(item: Item, records: number): Promise<void> {
    if (!this.#chunk.hasRoom(item, this.#options.chunk)) await this.#flush(records);
    this.#chunk.add(item);
  }

  /** Resolves when everything is acknowledged. */
  async end(records: number): Promise<void> {
    await this.#flush(records);
    await this.#untilInFlight(0);
  }

  async #flush(records: number): Promise<void> {
    const chunk = this.#chunk;
    if (chunk.items.length === 0) return;
    this.#chunk = new Chunk();
    chunk.records = records;
    const number = this.#cut++;
    if (number < this.#options.sent.chunks) return;
    await this.#untilInFlight(chunk.waits ? 0 : CHUNKS_IN_FLIGHT - 1);
    const sending = this.#send(chunk, number)
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

  async #send(chunk: Chunk, number: number): Promise<void> {
    const sessions = `"sessions":[${chunk.items.map(({ text }) => text).join(',')}]`;
    const body = this.#options.kind === 'sessions' ? `{${sessions}}` : `{"visits":true,${sessions}}`;
    const answer = ImportAnswer.parse(await this.#options.send(body));
    this.#answers.set(number, { chunk, answer });
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      this.#sums = added(this.#sums, next.chunk, next.answer);
      this.#options.acknowledged(this.#sums);
      for (const { session, ...why } of next.answer.rejected) {
        const item = next.chunk.items[session];
        if (item !== undefined && why.code !== 'bot') this.#options.rejected({ item, ...why });
      }
    }
  }

  #take(): { readonly chunk: Chunk; readonly answer: Answer } | undefined {
    const next = this.#answers.get(this.#sums.chunks);
    this.#answers.delete(this.#sums.chunks);
    return next;
  }
}

const ImportAnswer = z.object({
  /** An index comes more than once if the item became a part of several sessions. */
  sessions: z.array(z.int()),
  events: z.int(),
  duplicates: z.int(),
  rejected: z.array(
    z.object({ session: z.int(), event: z.int().nullable(), code: z.string(), message: z.string() }),
  ),
});
type Answer = z.infer<typeof ImportAnswer>;

function added(sums: SentPart, { items, records }: Chunk, answer: Answer): SentPart {
  const whole = answer.rejected.filter(({ event }) => event === null);
  const bots = whole.filter(({ code }) => code === 'bot').length;
  const stored = countsOf(answer.sessions);
  const begun = new Set(sums.begun);
  let { sessions } = sums;
  for (const [index, { session, isLast }] of items.entries()) {
    const parts = stored.get(index) ?? 0;
    if (parts > 0) {
      sessions += begun.has(session) ? parts - 1 : parts;
      begun.add(session);
    }
    if (isLast) begun.delete(session);
  }
  return {
    chunks: sums.chunks + 1,
    records,
    sessions,
    events: sums.events + answer.events,
    duplicates: sums.duplicates + answer.duplicates,
    rejected: sums.rejected + answer.rejected.length - whole.length,
    bots: sums.bots + bots,
    malformed: sums.malformed + whole.length - bots,
    begun: [...begun],
  };
}

function countsOf(indexes: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const index of indexes) counts.set(index, (counts.get(index) ?? 0) + 1);
  return counts;
}
