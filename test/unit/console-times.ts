import { type WallMinute, wallMinute, type Zone } from '../../src/console/analytics/view/zone.ts';

/** With changed clocks, with half an hour, and behind UTC. */
export const ZONES: readonly Zone[] = [
  'UTC',
  'Asia/Tehran',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'America/St_Johns',
];

export const at = (text: string): number => Date.parse(text);
export const minute = (text: string): WallMinute => {
  const found = wallMinute(text);
  if (found === null) throw new Error(text);
  return found;
};
/** Friday, 15:30 in Tehran. */
export const NOON = at('2026-11-20T12:00:00Z');
