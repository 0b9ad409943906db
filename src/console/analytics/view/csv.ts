import type { Range } from './range.ts';
import { startsDay, wallAt, type Zone } from './zone.ts';

const LONGEST_APP = 60;

type Cell = string | number | null;

/**
 * Writes RFC 4180: texts are quoted, null is empty. A text that a spreadsheet would run as a formula begins with an
 * apostrophe, because visitors choose paths and names. Some take the full-width and small forms of the signs for the signs.
 */
export function csvOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('');
}

function fieldOf(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const safe = /^[=+\-@\t\r＝＋－＠﹦﹢﹣﹫]/.test(cell) ? `'${cell}` : cell;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** The name of an export's file, without its ending: `web-shop_pages_2026-11-14_2026-11-20`. */
export function fileNameOf(app: string, panel: string, days: string): string {
  // Without the characters that have a meaning in paths, and without spaces.
  const safe = app
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, LONGEST_APP);
  return [safe, panel, days].filter((part) => part !== '').join('_');
}

/** A range for the name of a file: its days, or its minutes if they are no whole days. */
export function daysOf({ from, to }: Range, zone: Zone): string {
  const [first, last] = [wallAt(from, zone), wallAt(to, zone)];
  const areDays = startsDay(from, zone) && startsDay(to + 1, zone);
  const written = (wall: string): string => (areDays ? wall.slice(0, 10) : wall.replace(':', ''));
  return [...new Set([written(first), written(last)])].join('_');
}
