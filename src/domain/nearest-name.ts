export interface NearName {
  readonly name: string;
  /** How many letters are wrong in what was given. */
  readonly wrong: number;
}

/** Case and signs do not count. */
export const lettersOf = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** Returns the known name that is nearest to this one, the first of several; undefined if none is known. */
export function nearestName(given: string, known: readonly string[]): NearName | undefined {
  const letters = lettersOf(given);
  let nearest: NearName | undefined;
  for (const name of known) {
    const wrong = wrongLetters(letters, lettersOf(name));
    if (nearest === undefined || wrong < nearest.wrong) nearest = { name, wrong };
  }
  return nearest;
}

/** The least number of letters to add, drop, replace or swap with their neighbour that makes `b` of `a`. */
function wrongLetters(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(replaced, swapped, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [before, above] = [above, row];
  }
  return above[b.length] ?? 0;
}
