/** Orders of answers, equal to those of the engine: texts are compared by their UTF-8 bytes. */

export const descending = (a: number, b: number): number => b - a;

/**
 * Compares by code point, which gives the same order as UTF-8 bytes. `<` compares UTF-16 units and puts
 * U+E000–U+FFFF after emoji.
 */
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

/** Most sessions first, then by name. */
export const bySessions = (
  a: { readonly name: string; readonly sessions: number },
  b: { readonly name: string; readonly sessions: number },
): number => descending(a.sessions, b.sessions) || byText(a.name, b.name);

type Order<T> = (a: T, b: T) => number;

/** The first `count` in this order, without sorting the others. */
export function firstOf<T>(all: Iterable<T>, count: number, order: Order<T>): T[] {
  let first: T[] = [];
  let last: T | undefined;
  for (const one of all) {
    if (last !== undefined && order(one, last) >= 0) continue;
    first.push(one);
    if (first.length < 2 * count) continue;
    first = first.sort(order).slice(0, count);
    last = first.at(-1);
  }
  return first.sort(order).slice(0, count);
}

/** Joins two lists that are in this order. */
export function inOrder<T>(some: readonly T[], others: readonly T[], order: Order<T>): T[] {
  const all: T[] = [];
  let next = 0;
  for (const one of some) {
    for (let other = others[next]; other !== undefined && order(other, one) < 0; other = others[++next]) {
      all.push(other);
    }
    all.push(one);
  }
  return all.concat(others.slice(next));
}

export const nullsLast = (a: string | null, b: string | null): number => {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return byText(a, b);
};
