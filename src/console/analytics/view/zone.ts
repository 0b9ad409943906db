/** A name of the IANA database: where days begin and end, and in which the person types times. */
export type Zone = string;

export const UTC: Zone = 'UTC';
export const TEHRAN: Zone = 'Asia/Tehran';

/** All zones that the browser knows, in the order of their names. */
export const allZones = (): readonly Zone[] => [UTC, ...Intl.supportedValuesOf('timeZone')];

/** The zone of this machine's clock. */
export const ownZone = (): Zone => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the name as a zone, or null if the browser knows none of that name. */
export function zoneNamed(name: string): Zone | null {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name;
  } catch {
    return null;
  }
}

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
export const wallAt = (at: number, zone: Zone): WallMinute => minuteAt(at + offsetAt(at, zone));

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
  return instantOf(minuteAt(midnight), zone);
}

/** Whether a day of `zone` begins at an instant. Where clocks skip midnight, it begins at 01:00. */
export const startsDay = (at: number, zone: Zone): boolean => dayStart(at, zone) === at;

/** From one instant to another by the clock of `zone`, in ms: a day has 24 hours, also when the clocks change. */
export const wallLength = (from: number, to: number, zone: Zone): number =>
  Date.parse(`${wallAt(to, zone)}Z`) - Date.parse(`${wallAt(from, zone)}Z`);

/** The start of the hour in `zone`. Hours in Tehran begin at half past in UTC. */
export function hourStart(at: number, zone: Zone): number {
  const offset = offsetAt(at, zone);
  return Math.floor((at + offset) / HOUR_MS) * HOUR_MS - offset;
}

/** The instant at which the clock of `zone` shows what it shows `days` days before `at`. Both are whole minutes. */
export const daysBefore = (at: number, days: number, zone: Zone): number =>
  instantOf(minuteAt(Date.parse(`${wallAt(at, zone)}Z`) - days * DAY_MS), zone);

/** The same a year before; 28 February for 29 February. */
export function yearBefore(at: number, zone: Zone): number {
  const wall = wallAt(at, zone);
  const year = String(Number(wall.slice(0, 4)) - 1).padStart(4, '0');
  const earlier = `${year}${wall.slice(4)}`;
  return instantOf(wallMinute(earlier) ?? wallMinute(earlier.replace('-02-29', '-02-28')) ?? wall, zone);
}

const minuteAt = (asUtc: number): WallMinute => new Date(asUtc).toISOString().slice(0, 16) as WallMinute;

const clocks = new Map<Zone, Intl.DateTimeFormat>();

/** How much clocks in `zone` are ahead of UTC, in ms. */
function offsetAt(at: number, zone: Zone): number {
  if (zone === UTC) return 0;
  const clock = clocks.get(zone) ?? clockOf(zone);
  clocks.set(zone, clock);
  const shown = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

const clockOf = (timeZone: Zone): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
