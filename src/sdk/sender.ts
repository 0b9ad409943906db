import { on } from './listen.ts';
import type { Batch, Queue } from './queue.ts';
import { DAY_MS } from './sessions.ts';
import { type Settings, unslashed } from './settings.ts';
import type { Store } from './store.ts';
import { isOff } from './switch.ts';
import { debug, warn } from './voice.ts';

/** Events of this time are sent together. */
const GATHER_MS = 2_000;
const ANSWER_MS = 30_000;
const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;
/** Browsers refuse keepalive bodies over 64 KiB, and a character may take three bytes. */
const KEEPALIVE_CHARS = 20_000;

export interface Sender {
  /** Sends the waiting batches soon, those that pages have left as well. Call it from time to time: it renews the lease. */
  soon(): void;
  /** Sends the waiting batches at once, unless the service asked to wait. */
  now(): void;
  /**
   * Sends the batches that were never sent at once, whatever is underway. The browser delivers them also if the page is
   * gone. It may never see the answers: they stay in the queue until it does, and are sent again later.
   */
  hurry(): void;
  /** Drops what waits. From here on nothing is sent, and no answer counts. */
  stop(): void;
  /** True after `stop`, and once this browser is switched off, perhaps in another tab. */
  stopped(): boolean;
}

/** Nobody has answered, or the service cannot for a while. */
const LATER = /^(0|408|429|5..)$/;
/** Credentials, site or endpoint are wrong: no batch of this page can succeed. */
const HOPELESS = /40[1345]/;

/** An answer: of success, or of failure. */
interface Told {
  readonly detail?: string;
  readonly errors?: readonly object[];
  readonly rejected?: readonly object[];
}

/**
 * Sends the queue of this page, one batch at a time, until the service has answered for each. After 408, 429,
 * 5xx or no answer it retries with growing pauses, but never before Retry-After, which also binds all tabs
 * and later pages. Other refusals are final. It stops if no later batch can succeed.
 */
export function createSender(
  { appId, secretKey, endpoint = '/' }: Settings,
  store: Store,
  queue: Queue,
): Sender {
  const url = `${unslashed(new URL(endpoint, location.origin).href)}/sdk/v1/events`;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let silent = false;
  let failures = 0;

  /** Ms until the service may be called again. More than a day means that the clock was set back. */
  const pause = (): number => {
    const ms = Number(store.get('w')) - Date.now();
    return ms > 0 && ms <= DAY_MS ? ms : 0;
  };
  const stop = (): void => {
    silent = true;
    for (const batch of queue.all()) queue.remove(batch);
  };
  const stopped = (): boolean => {
    if (isOff()) stop();
    return silent;
  };
  /** Says why the service refused a batch, or which of its sessions and events it left out. */
  const explain = (response: Response): Promise<void> =>
    response
      .json()
      .catch(() => ({}))
      .then(({ detail = '', errors = [], rejected }: Told) =>
        response.ok
          ? debug(rejected)
          : warn(`${url} refused a batch (${response.status}). ${detail}`, ...errors),
      );
  const after = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(now, ms);
  };

  function answered(batch: Batch, response?: Response): void {
    busy = false;
    if (stopped()) return;
    // 0: no answer.
    const status = `${response?.status ?? 0}`;
    debug(batch.id, status);
    if (LATER.test(status)) {
      const asked = Number(response?.headers.get('Retry-After')) * 1_000 || 0;
      // Full jitter over the upper half: 0.5–1 s, 1–2 s, 2–4 s … at most 5 min.
      const backoff = Math.min(BACKOFF_MS * 2 ** failures++, BACKOFF_MAX_MS) * (0.5 + Math.random() / 2);
      const wait = Math.min(asked + backoff, DAY_MS);
      if (response) store.set('w', Date.now() + wait);
      after(wait);
      return;
    }
    failures = 0;
    queue.remove(batch);
    if (response) void explain(response);
    if (HOPELESS.test(status)) stop();
    now();
  }
  function post(batch: Batch): void {
    busy = true;
    queue.freeze(batch);
    const { id: batchId, events } = batch;
    const sessions = [{ ...batch.session, events }];
    const text = JSON.stringify({ appId, secretKey, batchId, sentAt: new Date(), sessions });
    debug(batchId, events);
    // A plain string is sent as text/plain, which needs no preflight.
    fetch(url, {
      method: 'POST',
      credentials: 'omit',
      body: text,
      keepalive: !failures && text.length < KEEPALIVE_CHARS,
      signal: AbortSignal.timeout?.(ANSWER_MS) as AbortSignal,
    }).then(
      (response) => answered(batch, response),
      () => answered(batch),
    );
  }
  function now(): void {
    clearTimeout(timer);
    timer = undefined;
    if (busy || stopped()) return;
    queue.tend();
    const batch = queue.all()[0];
    if (!batch) return;
    const wait = pause();
    if (wait) after(wait);
    else post(batch);
  }
  // The fetch itself fails like one without a network.
  on('securitypolicyviolation', (event: SecurityPolicyViolationEvent) => {
    // A policy that only reports blocks nothing.
    const isBlocked = event.disposition === 'enforce' && event.effectiveDirective === 'connect-src';
    if (!isBlocked || !url.startsWith(event.blockedURI)) return;
    warn(`the page's connect-src blocks ${url}`);
    stop();
  });
  // In another tab.
  on('storage', stopped);
  return {
    now,
    soon() {
      if (stopped()) return;
      queue.tend();
      // What is under way sends the next one when it is answered.
      if (!timer) after(GATHER_MS);
    },
    hurry() {
      if (stopped() || pause()) return;
      for (const batch of queue.all()) if (!batch.sent) post(batch);
    },
    stop,
    stopped,
  };
}
