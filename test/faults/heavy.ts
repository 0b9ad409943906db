import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { App, Running } from './support.ts';

const DAY_MS = 86_400_000;
const SESSIONS = 500;
const EVENTS = 8;

/** Events in a batch of `fill`. A quarter of them are pageviews. */
export const EVENTS_IN_FILL = SESSIONS * EVENTS;

/** Stores `batches` × 4,000 events of the last 30 days, so that a question takes some work. */
export async function fill({ ask }: Running, app: App, batches: number): Promise<void> {
  const store = async (n: number): Promise<void> => {
    const now = Date.now();
    const sessions = Array.from({ length: SESSIONS }, (_, i) => {
      const start = now - 120_000 - ((i * 7_919 + n * 104_729) % (30 * DAY_MS));
      const events = Array.from({ length: EVENTS }, (_, e) => ({
        type: (['pageview', 'engagement', 'click', 'error'] as const)[e % 4],
        timestamp: new Date(start + e * 7_000).toISOString(),
        path: `/page/${(i * 31 + e * n) % 900}`,
        durationMs: 900,
        target: `#button-${i % 40}`,
        message: `Error ${i % 60}`,
      }));
      const context = { utm: { source: `source ${i % 20}` }, language: 'fa-IR', screen: '1920x1080' };
      const startedAt = new Date(start).toISOString();
      return { id: randomUUID(), visitorId: `v${(i * n) % 5_000}`, startedAt, context, events };
    });
    const body = { appId: app.id, secretKey: app.secretKey, batchId: randomUUID(), sessions };
    const { status, text } = await ask('/sdk/v1/events', { method: 'POST', body });
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 200)}`);
  };
  for (let n = 0; n < batches; n += 4) {
    await Promise.all(Array.from({ length: Math.min(4, batches - n) }, (_, i) => store(n + i + 1)));
  }
}

let asked = 0;
/** Returns a new question over the last days, exact to the ms: no cached answer fits it. */
export function heavyQuestion({ id }: App, days = 29): string {
  const from = new Date(Date.now() - days * DAY_MS + asked++ * 1_001).toISOString();
  return `/api/v1/sessions/overview/extended?appId=${id}&from=${from}`;
}

/** The memory that a process holds now. */
export interface Held {
  readonly rssMiB: number;
  /** The most since the start, or since the kernel was told to reset it. */
  readonly peakMiB: number;
  readonly handles: number;
  readonly threads: number;
}

export function heldBy(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const number = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return {
    rssMiB: number('VmRSS') / 1024,
    peakMiB: number('VmHWM') / 1024,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    threads: number('Threads'),
  };
}
