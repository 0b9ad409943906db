import { KNOWN_SETTINGS } from '../config.ts';
import { nearestName } from '../domain/nearest-name.ts';

/*
 * Checks of what a test gives to the kit. JavaScript has no compiler that would refuse a misspelled name, and a name that
 * is passed over makes a test that shows nothing.
 */

/** Throws an Error that names `what` unless it is an object that has these members only. */
export function assertMembers(what: string, value: unknown, known: readonly string[]): void {
  assertObject(what, value);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(`${what} has no member "${unknown}". ${meant(unknown, known)}`);
}

export function assertObject(what: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what} must be an object, not ${shown(value)}.`);
  }
}

export function assertText(what: string, value: unknown): void {
  if (typeof value !== 'string') throw new Error(`${what} must be a text, not ${shown(value)}.`);
}

export function assertFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw new Error(`${what} must be a function, not ${shown(value)}.`);
}

export function assertList(what: string, value: unknown): void {
  if (!Array.isArray(value)) throw new Error(`${what} must be an array, not ${shown(value)}.`);
}

/** Throws an Error that names `what` unless it is one of these values. */
export function assertOneOf(what: string, value: unknown, known: readonly unknown[]): void {
  if (!known.includes(value)) {
    throw new Error(`${what} must be one of ${known.map(String).join(', ')}, not ${shown(value)}.`);
  }
}

/** Throws an Error that names `what` unless it is a whole number of at least `least`, and at most `most`. */
export function assertWhole(
  what: string,
  value: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return;
  const upTo = most === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${most}`;
  throw new Error(`${what} must be a whole number of at least ${least}${upTo}, not ${shown(value)}.`);
}

/** Throws an Error for a setting that the service does not have, and for a value that is no text. */
export function assertSettings(settings: unknown): void {
  assertMembers('settings', settings, KNOWN_SETTINGS);
  for (const [name, value] of Object.entries(settings as object)) {
    assertText(`settings: ${name}`, value);
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Names the nearest known name, or all of them if none is near. */
function meant(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  if (near !== undefined && near.wrong <= Math.max(2, name.length / 3)) return `Did you mean "${near.name}"?`;
  return `It can have ${known.join(', ')}.`;
}
