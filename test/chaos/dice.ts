import { randomFrom } from '../support/generate-traffic.ts';

/** Choices that follow from a seed alone. */
export interface Dice {
  /** From 0 to below `below`. */
  whole(below: number): number;
  chance(probability: number): boolean;
  one<Item>(items: readonly Item[]): Item;
  /** By weight. */
  weighted<Item>(items: readonly (readonly [number, Item])[]): Item;
  /** Returns independent dice: later rolls here do not change them. */
  another(): Dice;
}

export function createDice(seed: number): Dice {
  const random = randomFrom(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  return {
    whole,
    chance: (probability) => random() < probability,
    one: (items) => {
      const item = items[whole(items.length)];
      if (item === undefined) throw new Error('nothing to choose from');
      return item;
    },
    weighted: (items) => {
      let left = random() * items.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, item] of items) {
        left -= weight;
        if (left < 0) return item;
      }
      throw new Error('nothing to choose from');
    },
    another: () => createDice(whole(2 ** 31)),
  };
}
