import type { Batch, Queue } from './queue.ts';
import { DAY_MS } from './sessions.ts';
import type { Store } from './store.ts';
import { iso } from './wire.ts';

/** Events of this time are sent together. */
const GATHER_MS = 2_000;
const ANSWER_MS = 30_000;
const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;
/** Browsers refuse keepalive bodies over 64 KiB, and a character may take three bytes. */
const KEEPALIVE_CHARS = 20_000;

export interface Address {
  readonly url: string;
  readonly appId: string;
  readonly secretKey: string;
}

export interface Sender {
  /** Sends the waiting batches soon. */
  soon(): void;
  /** Sends the waiting batches at once, unless the service asked to wait. */
  now(): void;
  /**
   * Hands batches that were never sent to the browser, which delivers them after the page is gone. The
   * outcome is unknown, so they stay in the queue and are sent again later.
   */
  beacon(): void;
}

/** Full jitter over the upper half: 0.5–1 s, 1–2 s, 2–4 s … at most 5 min. */
const backoff = (failures: number): number =>
  Math.min(BACKOFF_MS * 2 ** failures, BACKOFF_MAX_MS) * (0.5 + Math.random() / 2);

/**
 * Sends the queue of this page, one batch at a time, until the service has answered for each. After 408, 429,
 * 5xx or no answer it retries with growing pauses, but never before Retry-After, which also binds all tabs
 * and later pages. Other refusals are final. `refuse` is called if the credential or the site is refused.
 */
export function createSender(address: Address, store: Store, queue: Queue, refuse: () => void): Sender {
  const { url, appId, secretKey } = address;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let failures = 0;

  const body = ({ id, session, events }: Batch): string => {
    const sessions = [{ ...session, events }];
    return JSON.stringify({ appId, secretKey, batchId: id, sentAt: iso(Date.now()), sessions });
  };
  /** Ms until the service may be called again. More than a day means that the clock was set back. */
  const pause = (): number => {
    const ms = Number(store.get('w')) - Date.now();
    return ms > 0 && ms <= DAY_MS ? ms : 0;
  };
  const after = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(now, ms);
  };

  function failed(batch: Batch, response?: Response): void {
    const asked = Number(response?.headers.get('Retry-After')) * 1_000 || 0;
    const wait = Math.min(asked + backoff(failures++), DAY_MS);
    if (response) store.set('w', Date.now() + wait);
    queue.postpone(batch);
    after(wait);
  }
  function answered(batch: Batch, response?: Response): void {
    busy = false;
    const status = response?.status ?? 0;
    if (!status || status === 408 || status === 429 || status >= 500) {
      failed(batch, response);
      return;
    }
    failures = 0;
    queue.remove(batch);
    if (status === 401 || status === 403) refuse();
    now();
  }
  function post(batch: Batch): void {
    busy = true;
    queue.freeze(batch);
    const text = body(batch);
    // A plain string is sent as text/plain, which needs no preflight.
    fetch(url, {
      method: 'POST',
      body: text,
      credentials: 'omit',
      keepalive: !failures && text.length < KEEPALIVE_CHARS,
      signal: AbortSignal.timeout?.(ANSWER_MS) ?? null,
    }).then(
      (response) => answered(batch, response),
      () => answered(batch),
    );
  }
  function now(): void {
    clearTimeout(timer);
    timer = undefined;
    if (busy) return;
    queue.tend();
    const batch = queue.all()[0];
    const wait = pause();
    if (batch && wait) after(wait);
    else if (batch) post(batch);
  }
  return {
    now,
    soon() {
      if (timer === undefined && !busy) after(GATHER_MS);
    },
    beacon() {
      if (pause()) return;
      for (const batch of queue.all().filter(({ sent }) => !sent)) {
        queue.freeze(batch);
        navigator.sendBeacon(url, body(batch));
      }
    },
  };
}
