/** The digits 0 of the scripts that are understood: Latin, Persian, Arabic. */
const ZEROS = ['0', '۰', '٠'].map((zero) => zero.charCodeAt(0));
/** A hundred years have 36,500 days. */
const MOST_DIGITS = 5;

/** Reads a number of days, in the digits of any of these scripts; null if there is no digit. Skips other characters. */
export function daysIn(text: string): number | null {
  const digits = Array.from(text, (character) =>
    ZEROS.map((zero) => character.charCodeAt(0) - zero).find((digit) => digit >= 0 && digit <= 9),
  ).filter((digit) => digit !== undefined);
  return digits.length === 0 ? null : Number(digits.slice(0, MOST_DIGITS).join(''));
}
