import { newId } from './ids.ts';
import { DAY_MS } from './sessions.ts';
import type { Store } from './store.ts';
import type { SessionHead, WireEvent } from './wire.ts';

const BATCH_EVENTS = 50;
const QUEUE_BATCHES = 20;
/** The whole is longer than the minute to which browsers slow the timers of hidden pages. */
const HALF_LEASE_MS = 60_000;
/** The service remembers a batchId for 7 days. A batch must not be sent again after that. */
const RETRY_MS = 6 * DAY_MS;

/** Events of one session that are sent together. Once `sent` is set, its events never change. */
export interface Batch {
  readonly id: string;
  readonly session: SessionHead;
  readonly events: WireEvent[];
  /** Epoch ms of the first attempt; 0 before it. */
  sent: number;
}

interface Saved {
  /** Epoch ms until which only the page that wrote the queue sends it. */
  readonly until: number;
  readonly batches: readonly Batch[];
}

export interface Queue {
  add(session: SessionHead, event: WireEvent): void;
  /** The waiting batches, oldest first. */
  all(): readonly Batch[];
  /**
   * Call it before each attempt: the batch no longer changes from here on. It moves behind the others, so that one refused batch
   * does not delay them.
   */
  freeze(batch: Batch): void;
  remove(batch: Batch): void;
  /** Renews the lease, drops batches that are too old, and takes over the queues of pages that are gone. */
  tend(): void;
  /** Call it when the page goes, perhaps for good. The next page takes over the waiting batches. */
  release(): void;
  /** Call it when the page is back. It may take over queues again, including its own. */
  restore(): void;
}

/**
 * The queue of one page: at most 20 batches of 50 events. Beyond that the oldest batch is dropped. Each page
 * writes under its own name, so tabs never overwrite each other. A queue that is released, or whose lease is
 * over, adds no events to its batches. So every page sends the same content under the same `batchId`, and the
 * service counts it once even if two pages send it.
 */
export function createQueue(store: Store): Queue {
  let key = `q${newId()}`;
  let batches: readonly Batch[] = [];
  let open: Batch | undefined;
  let until = 0;
  let gone = false;
  const leased = (end: number): boolean => Math.abs(end - HALF_LEASE_MS - Date.now()) <= HALF_LEASE_MS;
  const write = (next: readonly Batch[], lease = 2 * HALF_LEASE_MS): void => {
    if (!leased(until)) open = undefined;
    batches = next.slice(-QUEUE_BATCHES);
    until = Date.now() + lease;
    const saved: Saved = { until, batches };
    store.set(key, next[0] && saved);
  };
  const without = (batch: Batch): Batch[] => batches.filter(({ id }) => id !== batch.id);
  const append = (batch: Batch): void => write([...without(batch), batch]);
  return {
    add(session, event) {
      const fits =
        !open?.sent && leased(until) && open?.session.id === session.id && open.events.length < BATCH_EVENTS;
      const batch: Batch = (fits && open) || { id: newId(), session, events: [], sent: 0 };
      batch.events.push(event);
      append(batch);
      open = batch;
    },
    all: () => batches,
    freeze(batch) {
      batch.sent ||= Date.now();
      append(batch);
    },
    remove: (batch) => write(without(batch)),
    tend() {
      if (gone) return;
      for (const name of store.keys('q')) {
        const saved = store.get(name) as Saved | undefined;
        if (!saved || leased(saved.until)) continue;
        for (const batch of saved.batches) append(batch);
        store.set(name);
      }
      write(batches.filter(({ sent }) => !sent || Date.now() - sent < RETRY_MS));
    },
    release() {
      write(batches, -1);
      key = `q${newId()}`;
      batches = [];
      // An answer or a timer may still arrive before the page is really gone. It must not take the queue
      // back.
      gone = true;
    },
    restore() {
      gone = false;
    },
  };
}
