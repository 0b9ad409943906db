const DEFAULT_SECONDS = 60;
const MOST_SECONDS = 3_600;
/** RFC 9111, section 5.2: names in any case, and an argument as a token or in quotes. */
const DIRECTIVE = /^max-stale(?:=(?:(\d+)|"(\d+)"))?$/i;

/**
 * How old an answer may be that the caller takes, in ms, by the request's Cache-Control; null where it says nothing of it, or nothing
 * that can be understood. `no-cache` and `no-store` ask for what holds now; of several, the first counts.
 */
export function maxStaleOf(cacheControl: string | undefined): number | null {
  if (cacheControl === undefined) return null;
  const directives = cacheControl.split(',').map((directive) => directive.trim());
  if (directives.some((directive) => /^no-(cache|store)$/i.test(directive))) return null;
  const named = directives.find((directive) => /^max-stale\b/i.test(directive));
  const [directive, token, quoted] = named === undefined ? [] : (DIRECTIVE.exec(named) ?? []);
  if (directive === undefined) return null;
  const seconds = Number(token ?? quoted ?? DEFAULT_SECONDS);
  return Math.min(seconds, MOST_SECONDS) * 1_000;
}
