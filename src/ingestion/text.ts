const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * `text` as it is stored: without control characters, a lone surrogate replaced (it has no UTF-8 form), and cut after
 * `max` code points.
 */
export function cleanText(text: string, max: number): string {
  const clean = UNSTORABLE.test(text) ? text.replace(/\p{Cc}/gu, '').replace(/\p{Cs}/gu, '\ufffd') : text;
  return cutText(clean, max);
}

/** The first `max` code points: never half a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  let units = 0;
  for (let points = 0; points < max && units < text.length; points++) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}
