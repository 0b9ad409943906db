import { warn } from './voice.ts';

/** The properties of a custom event by their keys. Other values than these are left out. */
export type Properties = Readonly<Record<string, string | number | boolean | null | undefined>>;

const MOST = 20;
/** The service cuts texts at 256 characters, of one or two units each. */
const UNITS = 512;
/**
 * At most 64 characters, with a visible one at each end, and no control character. The service strips others, and rejects an
 * event with two keys that are the same then.
 */
const KEY = /^[^\s\p{C}\p{DI}\u2800]([^\p{Cc}\p{Cs}]{0,62}[^\s\p{C}\p{DI}\u2800])?$/u;

/** Returns the properties that the service takes, at most 20. It would reject the event for any other. */
export function cleanProperties(sent: unknown): Properties | undefined {
  const kept: Record<string, Properties[string]> = {};
  let count = 0;
  for (const [key, value] of Object.entries(Object(sent))) {
    const isText = typeof value === 'string';
    const isTaken = isText || value === !!value || Number.isFinite(value);
    if (typeof sent === 'object' && !Array.isArray(sent) && KEY.test(key) && isTaken && count++ < MOST)
      kept[key] = isText ? value.slice(0, UNITS) : (value as number | boolean);
    else if (value != null) warn('some properties are left out');
  }
  return count ? kept : undefined;
}
