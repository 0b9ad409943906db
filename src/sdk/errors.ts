import { SEEN } from './text.ts';

const MOST = 1_024;

/** What a thrown object may tell. */
interface Thrown {
  readonly constructor?: { readonly name: string };
  readonly status?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
}

/** A page may throw its whole state. */
const VISITS = 50;
const FIELD_UNITS = 256;

/**
 * Returns a line about a thrown value of any kind, of 1 to 1,024 characters. `place`: where it was thrown, for values that
 * say little about themselves.
 */
export function errorText(thrown: unknown, place = ''): string {
  let text = '';
  let left = VISITS;
  const fields: Record<string, unknown> = {};
  const isOdd = Object(thrown) === thrown && !(thrown instanceof Error);
  try {
    if (isOdd) {
      const { status, type, message } = thrown as Thrown;
      text = (thrown as Thrown).constructor?.name || 'Object';
      // What the browser makes, such as responses and events, has these not as own fields.
      JSON.stringify({ status, type, message, thrown }, (key, value) => {
        if (!left--) throw left;
        if (Object(value) === value) return value;
        fields[key] = /^(s|big)/.test(typeof value) ? String(value).slice(0, FIELD_UNITS) : value;
      });
    } else text = String(thrown).slice(0, MOST);
  } catch {
    // Enough was visited, something cannot be read, or it leads back.
  }
  if (isOdd) text += ` ${JSON.stringify(fields)}`;
  if (text === 'Script error.') text += ' (of another site)';
  // Only a name, or nothing.
  if (/^\w*$/.test(text) || !SEEN.test(text)) text = (text || 'Error') + place;
  return text.replace(/\[object Object]/g, '{…}').slice(0, MOST);
}
