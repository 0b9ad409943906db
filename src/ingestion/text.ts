import { trimBlanks } from '../domain/blank.ts';

/** Control characters and surrogates. Most texts have none, and this test is quick. */
const SUSPECT = /[^ -~\u00a0-\ud7ff\ue000-\uffff]/;

/** Returns `text` without control characters, with lone surrogates replaced: they have no UTF-8 form. */
export const wellFormed = (text: string): string =>
  SUSPECT.test(text)
    ? text.replace(/\p{Cc}+/gu, '').replace(/\p{Cs}+/gu, (lone) => '\ufffd'.repeat(lone.length))
    : text;

/** Returns `text` in its stored form: well-formed, without blanks at its ends, and cut after `max` code points. */
export function cleanText(text: string, max: number): string {
  const whole = trimBlanks(wellFormed(text));
  return whole.length <= max ? whole : trimBlanks(cutText(whole, max));
}

/** Returns the first `max` code points, never half a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  let units = 0;
  for (let points = 0; points < max && units < text.length; points++) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}
