/** Orders of answers, as the engine sorts: texts by their UTF-8 bytes. */

export const descending = (a: number, b: number): number => b - a;

/** By code point, which is by UTF-8 byte; a string's own `<` goes by UTF-16 and sets U+E000–U+FFFF behind emoji. */
export function byText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** A surrogate is half of a code point above all others. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

export const nullsLast = (a: string | null, b: string | null): number => {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return byText(a, b);
};
