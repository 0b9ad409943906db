const DEFAULT_SECONDS = 60;
const MOST_SECONDS = 3_600;
/** RFC 9111, section 5.2: names are case-insensitive; an argument is a token or quoted. */
const DIRECTIVE = /^max-stale(?:=(?:(\d+)|"(\d+)"))?$/i;

/**
 * Returns the greatest age of an answer, in ms, that the request's Cache-Control allows. Null if it states
 * none, or none that can be parsed. `no-cache` and `no-store` ask for the current answer. If max-stale is
 * repeated, the first one counts.
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
