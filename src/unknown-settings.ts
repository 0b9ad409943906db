import { lettersOf, nearestName } from './domain/nearest-name.ts';

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

/** Returns the names in the environment that are meant for this service and unknown to it, with the nearest known names. */
export function unknownSettings(
  env: NodeJS.ProcessEnv,
  known: readonly string[],
): ReadonlyMap<string, string> {
  const unknown = new Map<string, string>();
  for (const name of Object.keys(env)) {
    if (known.includes(name)) continue;
    const meant = FAMILIES.some((family) => name.startsWith(family))
      ? nearestName(name, known)?.name
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
  const near = letters.length < SHORTEST ? undefined : nearestName(name, alike);
  if (near === undefined || near.wrong > allowed) return undefined;
  const inUse = near.name.replace(FROM_FILE, '');
  return env[inUse] !== undefined || env[`${inUse}_FILE`] !== undefined ? undefined : near.name;
}
