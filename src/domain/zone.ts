import { LRUCache } from 'lru-cache';
import { DAY_MS, MINUTE_MS } from './time.ts';

/* Clocks of time zones, from the zone database of the process, and clocks at fixed offsets. */

const SECOND_MS = 1_000;

/** Returns by how many ms the clock is ahead of UTC at an instant (epoch ms). */
type Offset = (at: number) => number;

/** The instant from which on the clock has this offset. */
interface Change {
  readonly at: number;
  readonly offset: number;
}

export interface Zone {
  readonly offset: Offset;
  /** The changes of the clock in a UTC year, ascending. */
  changes(year: number): readonly Change[];
}

const FIXED = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/;

/** Short names of the zone database. The process also knows others of the kind, which are ambiguous (`IST`) or outdated. */
const SHORT = new Set(
  'CET CST6CDT EET EST EST5EDT GB GB-EIRE GMT GMT+0 GMT-0 GMT0 HST MET MST MST7MDT NZ NZ-CHAT PRC PST8PDT ROC ROK UCT UTC W-SU WET'.split(
    ' ',
  ),
);
const isName = (name: string): boolean =>
  SHORT.has(name.toUpperCase()) ||
  (/^[a-z]{4,}$|^[a-z][a-z0-9_+/-]*\/[a-z0-9_+/-]+$/i.test(name) && !/^systemv\//i.test(name));

const known = new LRUCache<string, Zone>({ max: 100 });

/** Returns the clock of an IANA zone or of a fixed offset (`±HH:MM`); null if there is none. */
export function zoneOf(name: string): Zone | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  const zone = fixedZone(name) ?? namedZone(name);
  if (zone !== null) known.set(name, zone);
  return zone;
}

function fixedZone(name: string): Zone | null {
  const [whole, sign, hours, minutes] = FIXED.exec(name) ?? [];
  if (whole === undefined) return null;
  const ms = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return { offset: () => ms, changes: () => [] };
}

function namedZone(name: string): Zone | null {
  const format = isName(name) ? formatOf(name) : null;
  if (format === null) return null;
  // The Swedish form is an ISO date and time.
  const offset: Offset = (at) => {
    const second = Math.floor(at / SECOND_MS) * SECOND_MS;
    return Date.parse(`${format.format(second).replace(' ', 'T')}Z`) - second;
  };
  const years = new LRUCache<number, readonly Change[]>({ max: 400 });
  return {
    offset,
    changes: (year) => {
      const found = years.get(year) ?? changesIn(offset, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1));
      years.set(year, found);
      return found;
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  } catch {
    return null;
  }
}

/** Shorter than the time between any two changes since 1970: a clock of Recife was set back after 6 days and 23 hours. */
const STEP_MS = 6 * DAY_MS;

/** The changes from `from` (inclusive) to `to` (exclusive). */
function changesIn(offset: Offset, from: number, to: number): Change[] {
  const found: Change[] = [];
  let [last, own] = [from - SECOND_MS, offset(from - SECOND_MS)];
  while (last < to - SECOND_MS) {
    const next = Math.min(last + STEP_MS, to - SECOND_MS);
    const after = offset(next);
    if (after !== own) found.push({ at: changeBetween(offset, last, next, after), offset: after });
    [last, own] = [next, after];
  }
  return found;
}

/** Clocks change at whole seconds. */
function changeBetween(offset: Offset, from: number, to: number, after: number): number {
  let [before, at] = [from, to];
  while (at - before > SECOND_MS) {
    const middle = Math.floor((before + at) / 2 / SECOND_MS) * SECOND_MS;
    if (offset(middle) === after) at = middle;
    else before = middle;
  }
  return at;
}
