/** A seeded source of random numbers: the same seed gives the same data on every machine. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Picks by weight. The weights need not add up to a fixed sum. */
  weighted<T extends { readonly weight: number }>(items: readonly T[]): T;
  /** An exponentially distributed number with this mean. */
  exponential(mean: number): number;
}

/** Mulberry32: 32 bits of state, good enough for made-up visitors. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const at = <T>(items: readonly T[], index: number): T => {
    const item = items[index];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  return {
    next,
    int: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (probability) => next() < probability,
    pick: (items) => at(items, Math.floor(next() * items.length)),
    weighted: (items) => {
      let left = next() * items.reduce((sum, { weight }) => sum + weight, 0);
      const index = items.findIndex(({ weight }) => {
        left -= weight;
        return left < 0;
      });
      return at(items, index === -1 ? items.length - 1 : index);
    },
    exponential: (mean) => -mean * Math.log(1 - next()),
  };
}
