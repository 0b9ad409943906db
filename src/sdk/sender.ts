import { on } from './listen.ts';
import type { Batch, Queue } from './queue.ts';
import { DAY_MS } from './sessions.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store.ts';
import { debug, warn } from './voice.ts';
import { iso } from './wire.ts';

/** Events of this time are sent together. */
const GATHER_MS = 2_000;
const ANSWER_MS = 30_000;
const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;
/** Browsers refuse keepalive bodies over 64 KiB, and a character may take three bytes. */
const KEEPALIVE_CHARS = 20_000;

export interface Sender {
  /** Sends the waiting batches soon. */
  soon(): void;
  /** Sends the waiting batches at once, unless the service asked to wait. */
  now(): void;
  /**
   * Hands batches that were never sent to the browser, which delivers them after the page is gone. The
   * outcome is unknown, so they stay in the queue and are sent again later.
   */
  leave(): void;
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

/** Says why the service refused a batch, or which of its sessions and events it left out. */
async function explain(url: string, response: Response): Promise<void> {
  const { detail = '', errors = [], rejected }: Told = await response.json().catch(() => ({}));
  if (response.ok) return debug(rejected);
  warn(`${url} refused a batch (${response.status}). ${detail}`, ...errors);
}

/** Full jitter over the upper half: 0.5–1 s, 1–2 s, 2–4 s … at most 5 min. */
const backoff = (failures: number): number =>
  Math.min(BACKOFF_MS * 2 ** failures, BACKOFF_MAX_MS) * (0.5 + Math.random() / 2);

/**
 * Sends the queue of this page, one batch at a time, until the service has answered for each. After 408, 429,
 * 5xx or no answer it retries with growing pauses, but never before Retry-After, which also binds all tabs
 * and later pages. Other refusals are final. `refuse` is called if no later batch can succeed.
 */
export function createSender(
  { appId, secretKey }: Settings,
  url: string,
  store: Store,
  queue: Queue,
  refuse: () => void,
): Sender {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let failures = 0;

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
    // 0: no answer.
    const status = `${response?.status ?? 0}`;
    debug(batch.id, status);
    if (LATER.test(status)) {
      failed(batch, response);
      return;
    }
    failures = 0;
    queue.remove(batch);
    if (response) void explain(url, response);
    if (HOPELESS.test(status)) refuse();
    now();
  }
  function post(batch: Batch): void {
    busy = true;
    queue.freeze(batch);
    const { id: batchId, session, events } = batch;
    const sessions = [{ ...session, events }];
    const text = JSON.stringify({ appId, secretKey, batchId, sentAt: iso(Date.now()), sessions });
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
    if (busy) return;
    queue.tend();
    const batch = queue.all()[0];
    const wait = pause();
    if (batch && wait) after(wait);
    else if (batch) post(batch);
  }
  // The fetch itself fails like one without a network.
  on('securitypolicyviolation', (event: SecurityPolicyViolationEvent) => {
    if (event.effectiveDirective !== 'connect-src' || !url.startsWith(event.blockedURI)) return;
    warn(`the page's connect-src blocks ${url}`);
    refuse();
  });
  return {
    now,
    soon() {
      if (timer === undefined && !busy) after(GATHER_MS);
    },
    leave() {
      if (pause()) return;
      for (const batch of queue.all()) if (!batch.sent) post(batch);
    },
  };
}
