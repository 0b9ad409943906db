import { currentWork } from '../domain/work.ts';
import type { Lane } from './connect.ts';

/** The cost of a statement. */
export interface StatementStats {
  readonly name: string;
  readonly lane: Lane;
  readonly ms: number;
  /** The wait for a place, before `ms` begins. */
  readonly queuedMs: number;
  /** `refused`: it got no place. */
  readonly outcome: 'ok' | 'failed' | 'refused';
}

/** A statement on its way, as logs, metrics and traces see it. */
export interface Sent {
  /** Headers that let the store's own trace go on from here. Empty without a trace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Notes that it has got its place. */
  start(): void;
  end(outcome: StatementStats['outcome'], error?: unknown): void;
}

/** Notes that the current work sends a statement. */
export function send(
  { id, name, lane }: { readonly id: string; readonly name: string; readonly lane: Lane },
  onEnd: ((stats: StatementStats) => void) | undefined,
): Sent {
  const work = currentWork();
  const open = work?.send(name, lane);
  const span = work?.span?.child(name, {
    isCall: true,
    attributes: { 'db.system.name': 'clickhouse', 'analytics.query_id': id, 'analytics.lane': lane },
  });
  const sentAt = performance.now();
  let startedAt: number | null = null;
  return {
    headers: span?.headers ?? {},
    start: () => {
      startedAt = performance.now();
      open?.start();
    },
    end: (outcome, error) => {
      const now = performance.now();
      const queuedMs = (startedAt ?? now) - sentAt;
      const ms = startedAt === null ? 0 : now - startedAt;
      open?.end(outcome);
      span?.end({ attributes: { 'analytics.queue_ms': Math.round(queuedMs) }, error });
      onEnd?.({ name, lane, ms, queuedMs, outcome });
    },
  };
}

/** The text that marks a statement in the store's own log: system.query_log, column log_comment. */
export function commentOf({ id, name }: { readonly id: string; readonly name: string }): string {
  const requestId = currentWork()?.requestId ?? null;
  return JSON.stringify({ id, name, ...(requestId === null ? {} : { requestId }) });
}
