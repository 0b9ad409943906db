import type { Link, SignedSession } from './late.ts';

/* Links between the sessions of a visitor (or of a visitor and a campaign) that late events change. */

export interface Relinked {
  readonly key: string;
  readonly now: readonly number[];
  readonly changes: readonly Link[];
}

/**
 * Returns, for each key, the starts of its sessions as they are now, and the links that appear or disappear.
 */
export function relink(
  rows: readonly SignedSession[],
  keyOf: (row: SignedSession) => string,
  startsOfKey: (key: string) => readonly number[],
): Relinked[] {
  const byKey = new Map<string, SignedSession[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const own = byKey.get(key);
    if (own === undefined) byKey.set(key, [row]);
    else own.push(row);
  }
  return [...byKey].map(([key, own]) => {
    const before = startsOfKey(key).toSorted((a, b) => a - b);
    const now = [...before];
    for (const { sign, startedAt } of own.toSorted((a, b) => a.sign - b.sign)) {
      if (sign === 1) now.push(startedAt);
      else if (now.includes(startedAt)) now.splice(now.indexOf(startedAt), 1);
    }
    now.sort((a, b) => a - b);
    return { key, now, changes: changedLinks(before, now) };
  });
}

function changedLinks(before: readonly number[], now: readonly number[]): Link[] {
  const counts = new Map<string, number>();
  const count = (starts: readonly number[], sign: 1 | -1): void => {
    for (const [i, startedAt] of starts.entries()) {
      const link = `${startedAt} ${starts[i - 1] ?? -1}`;
      counts.set(link, (counts.get(link) ?? 0) + sign);
    }
  };
  count(before, -1);
  count(now, 1);
  return [...counts].flatMap(([link, times]): Link[] => {
    const [startedAt = 0, prev = -1] = link.split(' ').map(Number);
    const sign = times < 0 ? -1 : 1;
    return Array.from({ length: Math.abs(times) }, () => ({ sign, startedAt, prev }));
  });
}
