import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { History } from './history.ts';
import type { Site } from './sites.ts';
import type { Batch } from './traffic.ts';
import type { Process, World } from './world.ts';

const PATIENCE_MS = 3_000;
const PAUSE_MS = 40;
/** A service that accepts nothing for so many attempts never will. */
const ATTEMPTS = 3_000;

const Accepted = z.object({
  accepted: z.number(),
  rejected: z.array(z.unknown()),
  duplicate: z.boolean().optional(),
});

/** Sends batches under their ids until each is acknowledged, and remembers those that were stored. */
export class Sender {
  readonly #world: World;
  readonly #history: History;
  readonly #attempts = new Map<string, number>();
  readonly #stored = new Set<string>();

  constructor(world: World, history: History) {
    this.#world = world;
    this.#history = history;
  }

  /** Resolves when the batch is acknowledged, or its app is deleted. */
  async send(site: Site, batch: Batch, first: Process): Promise<void> {
    const body = bodyOf(site, batch);
    site.book.send(batch);
    let process = first;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (site.isGone && attempt > 0) return;
      if (process.isUp || attempt === 0) {
        if (await this.#post(site, batch, body, process)) return;
        this.#history.counts.repeats += 1;
      }
      await sleep(PAUSE_MS);
      const { processes } = this.#world;
      process = processes[(processes.indexOf(process) + 1) % processes.length] ?? process;
    }
    throw new Error(`the batch ${batch.batchId} was never acknowledged`);
  }

  async #post(site: Site, batch: Batch, body: string, { life, name }: Process): Promise<boolean> {
    if (life === null) return false;
    const { batchId, events } = batch;
    this.#attempts.set(batchId, (this.#attempts.get(batchId) ?? 0) + 1);
    let [status, text] = [0, ''];
    try {
      const response = await fetch(`${life.url}/sdk/v1/events`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      [status, text] = [response.status, await response.text()];
    } catch {
      this.#history.happened(`batch ${batchId.slice(0, 8)} to ${name}: no answer`);
      return false;
    }
    const about = `app ${site.book.app.slice(0, 8)}`;
    this.#history.happened(
      `batch ${batchId.slice(0, 8)} of ${about} to ${name}: ${status} ${text.slice(0, 80)}`,
    );
    if (status === 503) return false;
    if (site.isGone) return true;
    if (status !== 200) {
      this.#history.wrong(`batch ${batchId} to ${name}: status ${status}`, [text, body]);
      return true;
    }
    site.book.acknowledge(batch);
    const { accepted, rejected, duplicate } = Accepted.parse(JSON.parse(text));
    const isFirst = duplicate !== true && !this.#stored.has(batchId);
    if (duplicate !== true) this.#stored.add(batchId);
    const isWhole = accepted === events && rejected.length === 0;
    const attempts = this.#attempts.get(batchId) ?? 0;
    if (duplicate === true ? accepted !== 0 || attempts === 1 : !isFirst || !isWhole) {
      this.#history.wrong(`batch ${batchId} of ${events} events to ${name}, sent ${attempts} times`, [
        text,
        body,
      ]);
    }
    return true;
  }
}

/** The same each time. */
const bodyOf = ({ book, secretKey }: Site, { batchId, parts }: Batch): string =>
  JSON.stringify({
    appId: book.app,
    secretKey,
    batchId,
    sessions: parts.map(({ session, context, events }) => ({
      ...session,
      startedAt: iso(session.startedAt),
      context,
      events: events.map((event) => ({ ...event, timestamp: iso(event.timestamp) })),
    })),
  });

const iso = (at: number): string => new Date(at).toISOString();
