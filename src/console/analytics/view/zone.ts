import { shownInTehran } from '../../../domain/tehran-clock.ts';
import type { Zone } from '../../i18n/format.ts';

export type { Zone };
/** Where days begin and end, and in which the person types times. */
export const ZONES: readonly Zone[] = ['UTC', 'Asia/Tehran'];

/** A minute as people write it, without a zone: `2026-11-20T10:46`. It can be compared as a text. */
export type WallMinute = string & { readonly wallMinute: unique symbol };

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Returns the text as a minute, or null if it is none. */
export function wallMinute(text: string): WallMinute | null {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return null;
  const at = Date.parse(`${text}Z`);
  // A date such as 31 June does not survive the way there and back.
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(text) ? (text as WallMinute) : null;
}

/** The minute that clocks in `zone` show at an instant. */
export const wallAt = (at: number, zone: Zone): WallMinute =>
  new Date(at + offsetAt(at, zone)).toISOString().slice(0, 16) as WallMinute;

/** The first instant of a minute in `zone`; for a minute that clocks skip, the instant at which they do. */
export function instantOf(wall: WallMinute, zone: Zone): number {
  const asUtc = Date.parse(`${wall}Z`);
  // Near a change of the clocks the first guess can have the offset beyond it.
  const guess = asUtc - offsetAt(asUtc, zone);
  const guesses = [guess, asUtc - offsetAt(guess, zone)];
  const right = guesses.filter((at) => wallAt(at, zone) === wall);
  return right.length > 0 ? Math.min(...right) : Math.max(...guesses);
}

/** The start of the day in `zone` that is `days` after the one of `at`. */
export function dayStart(at: number, zone: Zone, days = 0): number {
  const midnight = Date.parse(`${wallAt(at, zone).slice(0, 10)}T00:00Z`) + days * DAY_MS;
  return instantOf(new Date(midnight).toISOString().slice(0, 16) as WallMinute, zone);
}

/** The start of the hour in `zone`. Hours in Tehran begin at half past in UTC. */
export function hourStart(at: number, zone: Zone): number {
  const offset = offsetAt(at, zone);
  return Math.floor((at + offset) / HOUR_MS) * HOUR_MS - offset;
}

/** How much clocks in `zone` are ahead of UTC, in ms. */
const offsetAt = (at: number, zone: Zone): number =>
  zone === 'UTC' ? 0 : shownInTehran(at) - Math.floor(at / 1000) * 1000;
