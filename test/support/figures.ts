/**
 * Returns the figures of an answer that only grow with the data, by name. While batches are underway, each
 * lies between the figure of all batches acknowledged before the question and that of all batches sent before
 * the answer. Other figures (visitors, rates, places) may rise or fall.
 */
export function growing(path: string, answer: unknown): ReadonlyMap<string, number> {
  const figures = new Map<string, number>();
  const take = (name: string, value: unknown): void => {
    if (typeof value === 'number') figures.set(name, value);
  };
  for (const name of SINGLE[path] ?? []) take(name, at(answer, name));
  const list = LISTS[path];
  if (list !== undefined && Array.isArray(answer)) {
    for (const item of answer) {
      for (const figure of list.figures) take(`${at(item, list.key)} ${figure}`, at(item, figure));
    }
  }
  if (HOURS.has(path)) {
    for (const [day, item] of ((at(answer, 'days') ?? []) as unknown[]).entries()) {
      for (const figure of ['sessions', 'pageviews']) {
        for (const [hour, value] of (at(item, figure) as unknown[]).entries()) {
          take(`${day} ${hour} ${figure}`, value);
        }
      }
    }
  }
  if (path === 'sessions/data-bounds') {
    const [oldest, newest] = [at(answer, 'oldest'), at(answer, 'newest')];
    if (typeof oldest === 'string') take('before oldest', -Date.parse(oldest));
    if (typeof newest === 'string') take('newest', Date.parse(newest));
  }
  return figures;
}

/** Describes the figures that are out of bounds. */
export function outOfBounds(path: string, answer: unknown, least: unknown, most: unknown): string[] {
  const [figures, low, high] = [growing(path, answer), growing(path, least), growing(path, most)];
  return [...new Set([...figures.keys(), ...low.keys()])].flatMap((name) => {
    const none = path === 'sessions/data-bounds' ? Number.NEGATIVE_INFINITY : 0;
    const [got, from, to] = [figures, low, high].map((of) => of.get(name) ?? none);
    return got !== undefined && from !== undefined && to !== undefined && (got < from || got > to)
      ? [`${name}: got ${got}, not within ${from} to ${to}`]
      : [];
  });
}

const SINGLE: Readonly<Record<string, readonly string[]>> = {
  'sessions/overview/kpis': ['current', 'previous'].flatMap((period) =>
    ['sessions', 'pageviews', 'clicks', 'errors'].map((name) => `${period}.${name}`),
  ),
  'sessions/overview/extended': [
    'session.sessions',
    'page.pageviews',
    'page.uniquePages',
    'interaction.clicks',
    'interaction.customEvents',
    'interaction.engagedMs',
    'error.errors',
    'error.sessionsWithErrors',
  ],
};

const LISTS: Readonly<Record<string, { readonly key: string; readonly figures: readonly string[] }>> = {
  'sessions/pageviews': { key: 'path', figures: ['views', 'uniqueSessions'] },
  'sessions/timespent': { key: 'path', figures: ['totalMs'] },
  'sessions/user-growth': { key: 'date', figures: ['sessions', 'pageviews', 'clicks'] },
};

const HOURS = new Set(['sessions/traffic-heatmap', 'sessions/traffic-audience-activity']);

const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (of, name) => (of === null || typeof of !== 'object' ? undefined : Reflect.get(of, name)),
      value,
    );
