import { readResult } from './result/file.ts';
import { type Case, keyOf, type Result } from './result/schema.ts';
import { COMPARABLE_RUNS, chanceOf, median, ratioInterval } from './statistics.ts';
import { figure, table } from './table.ts';

export type Verdict = 'better' | 'worse' | 'same' | 'too few runs';

export interface Compared {
  readonly key: string;
  readonly unit: string;
  /** Medians. */
  readonly a: number;
  readonly b: number;
  /** b by a, with the interval that holds it in 95 of 100 cases; null if the runs are too few. */
  readonly ratio: number;
  readonly interval: readonly [number, number] | null;
  readonly verdict: Verdict;
}

interface Comparison {
  readonly compared: readonly Compared[];
  /** Cases of one file alone, or measured under other conditions, with the reason. */
  readonly left: readonly string[];
}

const CHANCE = 0.05;
/** The ends of an interval that tells little are this far apart. */
const WIDE = 3;
const isWide = (interval: Compared['interval']): boolean =>
  interval !== null && interval[1] > WIDE * interval[0];
/** Equal in every run of the same version. */
const CERTAIN: readonly string[] = ['bytes', 'rows'];

/** `threshold`: the smallest difference that counts, in percent. */
export function compare(a: Result, b: Result, threshold: number): Comparison {
  const ofB = new Map(b.cases.map((entry) => [keyOf(entry), entry]));
  const compared: Compared[] = [];
  const left: string[] = [];
  for (const one of a.cases.filter(({ better }) => better !== null)) {
    const other = ofB.get(keyOf(one));
    ofB.delete(keyOf(one));
    if (other === undefined) left.push(`${keyOf(one)}: only in the first file`);
    else if (!sameConditions(one, other)) left.push(`${keyOf(one)}: measured under other conditions`);
    else compared.push(comparedCase(one, other, threshold / 100));
  }
  for (const entry of ofB.values()) {
    if (entry.better !== null) left.push(`${keyOf(entry)}: only in the second file`);
  }
  return { compared, left };
}

const sameConditions = (a: Case, b: Case): boolean => {
  const names = new Set([...Object.keys(a.labels), ...Object.keys(b.labels)]);
  return a.unit === b.unit && [...names].every((name) => a.labels[name] === b.labels[name]);
};

function comparedCase(a: Case, b: Case, threshold: number): Compared {
  const ratio = median(b.runs) / median(a.runs);
  const told = { key: keyOf(a), unit: a.unit, a: median(a.runs), b: median(b.runs), ratio };
  const worseIf = a.better === 'lower' ? 'higher' : 'lower';
  const verdictOf = ([low, high]: readonly [number, number]): Verdict => {
    if (low > 1 + threshold) return worseIf === 'higher' ? 'worse' : 'better';
    if (high < 1 / (1 + threshold)) return worseIf === 'lower' ? 'worse' : 'better';
    return 'same';
  };
  if (a.exact === true && b.exact === false) return { ...told, interval: null, verdict: 'worse' };
  const neverBoth = [...a.runs, ...b.runs].every((run) => run === 0);
  if (neverBoth) return { ...told, ratio: 1, interval: null, verdict: 'same' };
  if (CERTAIN.includes(a.unit)) return { ...told, interval: null, verdict: verdictOf([ratio, ratio]) };
  if (Math.min(a.runs.length, b.runs.length) < COMPARABLE_RUNS) {
    return { ...told, interval: null, verdict: 'too few runs' };
  }
  const interval = ratioInterval(a.runs, b.runs);
  const byChance = chanceOf(a.runs, b.runs) >= CHANCE;
  return { ...told, interval, verdict: byChance ? 'same' : verdictOf(interval) };
}

/** Compares two files and prints the cases. Exit code 1 if one of the service's is worse. */
export function compareFiles(fileA: string, fileB: string, threshold: number): void {
  const [a, b] = [readResult(fileA), readResult(fileB)];
  const { compared, left } = compare(a, b, threshold);
  const order: readonly Verdict[] = ['worse', 'better', 'same', 'too few runs'];
  const rows = [...compared]
    .sort((one, other) => order.indexOf(one.verdict) - order.indexOf(other.verdict))
    .map(({ key, unit, a: before, b: after, ratio, interval, verdict }) => [
      key,
      unit,
      figure(before),
      figure(after),
      `${figure(ratio)}×`,
      interval === null ? '' : `${figure(interval[0])}–${figure(interval[1])}`,
      verdict,
    ]);
  const header = ['case', 'unit', 'A', 'B', 'B by A', '95 % interval', 'verdict'];
  if (rows.length > 0) console.log(table(header, rows));
  for (const line of left) console.log(`Not compared: ${line}.`);
  for (const name of ['cpu', 'cores', 'memoryGiB', 'node', 'engine'] as const) {
    const [ofA, ofB] = [a.environment[name], b.environment[name]];
    if (ofA !== ofB) console.log(`The environments differ: ${name} is ${ofA} in A and ${ofB} in B.`);
  }
  const baselines = new Set([...a.cases, ...b.cases].filter(({ ofService }) => !ofService).map(keyOf));
  const worse = compared.filter(({ key, verdict }) => verdict === 'worse' && !baselines.has(key));
  const count = (verdict: Verdict): number => compared.filter((entry) => entry.verdict === verdict).length;
  console.log(
    `\n${compared.length} cases: ${order.map((verdict) => `${count(verdict)} ${verdict}`).join(', ')} ` +
      `(differences below ${threshold} % do not count)`,
  );
  const unclear = compared.filter(({ verdict, interval }) => verdict === 'same' && isWide(interval)).length;
  if (unclear > 0) {
    console.log(
      `Of the same, ${unclear} varied so much that only a large difference would have been seen (an interval of more than ` +
        `${WIDE}× from end to end). Measure on an idle machine, or with more runs (--standard).`,
    );
  }
  if (compared.length === 0) console.log('Nothing could be compared.');
  if (worse.length > 0 || compared.length === 0) process.exitCode = 1;
}
