/**
 * Returns `numerator / denominator` rounded half up (towards +∞) to `decimals`, exactly; 0 if the denominator
 * is 0. Both are integers.
 */
export function ratio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0;
  const scale = 10n ** BigInt(decimals);
  const above = 2n * BigInt(numerator) * scale + BigInt(denominator);
  const scaled = floorDivide(above, 2n * BigInt(denominator));
  return Number(scaled) / Number(scale);
}

/** Divides towards -∞; BigInt's own division goes towards 0. `divisor` is positive. */
function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

/** Converts a number with at most `decimals` decimals to integer units. */
export const units = (value: number, decimals: number): number => Math.round(value * 10 ** decimals);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Compares in UTF-8 byte order, which differs from JavaScript's UTF-16 order beyond the BMP. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Compares strings in byte order and numbers in ascending order; nulls come last. */
function byValue(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === 'number' ? a - Number(b) : byBytes(a, String(b));
}

/** Sorts by `count`, descending; ties by each of `names` in turn. Then cuts to `limit`. */
export function ranked<Item>(
  items: readonly Item[],
  count: (item: Item) => number,
  names: (item: Item) => readonly (string | number | null)[],
  limit = Number.POSITIVE_INFINITY,
): Item[] {
  const sorted = [...items].sort((a, b) => {
    const [ofA, ofB] = [names(a), names(b)];
    const ties = ofA.map((name, i) => byValue(name, ofB[i] ?? null));
    return count(b) - count(a) || (ties.find((tie) => tie !== 0) ?? 0);
  });
  return sorted.slice(0, limit);
}

/** Groups items; groups are in the order of their first item. */
export function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

export const distinct = (values: readonly string[]): number => new Set(values).size;
