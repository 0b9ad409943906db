const MOST = 1_024;

/** What a thrown object may tell. */
interface Thrown {
  readonly status?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
}

/**
 * Returns a line about a thrown value of any kind, of 1 to 1,024 characters. `place`: where it was thrown, for values that
 * say little about themselves.
 */
export function errorText(thrown: unknown, place = ''): string {
  let text = '';
  try {
    text = String(thrown);
    if (/^\[object/.test(text)) {
      const { status, type, message } = thrown as Thrown;
      text = (thrown as object).constructor.name;
      // What the browser makes, such as responses and events, has these not as own fields.
      text += ` ${JSON.stringify({ ...(thrown as object), status, type, message })}`;
    }
  } catch {
    // An object without a text, or whose fields lead back to it.
  }
  if (text === 'Script error.') text += ' (of another site)';
  // Only a name, or nothing.
  if (/^\w*$/.test(text)) text = (text || 'Error') + place;
  return text.replace(/\[object Object]/g, '{…}').slice(0, MOST);
}
