/*
 * Misspelled settings. The environment also holds variables of other programs, of the shell, of npm, and those that
 * Kubernetes sets for each Service (REDIS_PORT, PUBLIC_API_SERVICE_HOST). So only names are judged that nobody else would
 * use: near misses of a setting that is not set, and names in families that are this service's own.
 */

/** Nothing else has settings that begin so. */
const FAMILIES = [
  'ANSWER_CACHE',
  'CLICKHOUSE_SHARD',
  'EVENT_MAX_AGE',
  'FACTS_CACHE',
  'MANAGEMENT_JWT',
  'PUBLIC_API_REPLICA',
  'PUBLIC_API_REQUESTS',
  'RETENTION_DAYS',
  'SEAL_INTERVAL',
  'SLOW_REQUEST',
  'STORE_WAIT',
];

/** Short names such as PORT resemble too many others. */
const SHORTEST = 6;
const FROM_FILE = /_FILE$/;

/** The most wrong letters of a near miss. */
const allowedIn = (letters: string): number => (letters.length < 12 ? 1 : 2);

const lettersOf = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** Returns the names in the environment that are meant for this service and unknown to it, with the nearest known names. */
export function unknownSettings(
  env: NodeJS.ProcessEnv,
  known: readonly string[],
): ReadonlyMap<string, string> {
  const unknown = new Map<string, string>();
  for (const name of Object.keys(env)) {
    if (known.includes(name)) continue;
    const meant = FAMILIES.some((family) => name.startsWith(family))
      ? nearest(name, known)
      : (withoutFile(name, known) ?? nearMiss(name, known, env));
    if (meant !== undefined) unknown.set(name, meant);
  }
  return unknown;
}

/** A setting that cannot be read from a file. */
const withoutFile = (name: string, known: readonly string[]): string | undefined =>
  known.find((setting) => name === `${setting}_FILE` && lettersOf(setting).length >= SHORTEST);

/** A setting in use is not what another name stands for. */
function nearMiss(name: string, known: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const letters = lettersOf(name);
  const allowed = allowedIn(letters);
  const alike = known.filter((setting) => Math.abs(lettersOf(setting).length - letters.length) <= allowed);
  if (letters.length < SHORTEST || alike.length === 0) return undefined;
  const setting = nearest(name, alike);
  const inUse = setting.replace(FROM_FILE, '');
  if (env[inUse] !== undefined || env[`${inUse}_FILE`] !== undefined) return undefined;
  return wrongLetters(letters, lettersOf(setting)) <= allowed ? setting : undefined;
}

function nearest(name: string, known: readonly string[]): string {
  const letters = lettersOf(name);
  return known
    .map((setting) => ({ setting, wrong: wrongLetters(letters, lettersOf(setting)) }))
    .reduce((best, one) => (one.wrong < best.wrong ? one : best)).setting;
}

/** The least number of letters to add, drop, replace or swap with their neighbour that makes `b` of `a`. */
function wrongLetters(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(replaced, swapped, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [before, above] = [above, row];
  }
  return above[b.length] ?? 0;
}
