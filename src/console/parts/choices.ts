import { useText } from '../i18n/use-text.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

const LIFETIMES = { forever: null, month: 30 * DAY, quarter: 90 * DAY, year: 365 * DAY } as const;
const OVERLAPS = { none: 0, hour: HOUR, day: DAY, week: 7 * DAY, month: 30 * DAY } as const;

export type Lifetime = keyof typeof LIFETIMES;
export type Overlap = keyof typeof OVERLAPS;

const NAMES_OF = <Name extends string>(choices: Readonly<Record<Name, unknown>>): Name[] =>
  Object.keys(choices) as Name[];

/** The lifetimes of a new key, for a select. */
export function useLifetimes(): { readonly value: Lifetime; readonly label: string }[] {
  const { lifetimes } = useText().keys;
  return NAMES_OF(LIFETIMES).map((value) => ({ value, label: lifetimes[value] }));
}

/** How long the old credential works on after a rotation, for a select. */
export function useOverlaps(): { readonly value: Overlap; readonly label: string }[] {
  const { overlaps } = useText().keys;
  return NAMES_OF(OVERLAPS).map((value) => ({ value, label: overlaps[value] }));
}

/** The end of a lifetime that begins now; null for none. */
export function endOf(lifetime: Lifetime): string | null {
  const seconds = LIFETIMES[lifetime];
  return seconds === null ? null : new Date(Date.now() + seconds * 1000).toISOString();
}

export const secondsOf = (overlap: Overlap): number => OVERLAPS[overlap];
