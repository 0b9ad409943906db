import { isoDay } from '../domain/time.ts';
import type { ValidSession } from './validate.ts';

/** A flush of so many months takes a fraction of a second on a machine with nothing else to do. */
const MONTHS_PER_PIECE = 12;

/**
 * Cuts sessions by the month of their start. The store writes each month by itself, so a piece of more months would keep its
 * sender and all others waiting. Equal events are of one start, so they stay together.
 */
export function piecesOf(sessions: readonly ValidSession[]): readonly (readonly ValidSession[])[] {
  const byMonth = new Map<string, ValidSession[]>();
  for (const session of sessions) {
    const month = isoDay(session.startedAt).slice(0, -3);
    const own = byMonth.get(month);
    if (own === undefined) byMonth.set(month, [session]);
    else own.push(session);
  }
  if (byMonth.size <= MONTHS_PER_PIECE) return [sessions];
  const months = [...byMonth].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, own]) => own);
  return Array.from({ length: Math.ceil(months.length / MONTHS_PER_PIECE) }, (_, i) =>
    months.slice(i * MONTHS_PER_PIECE, (i + 1) * MONTHS_PER_PIECE).flat(),
  );
}
