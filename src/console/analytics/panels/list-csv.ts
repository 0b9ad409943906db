import type { FigureName } from '../../../answers/figures.ts';
import type { List, ListRow } from '../lists.ts';
import { csvOf } from '../view/csv.ts';

export interface ListedRow extends ListRow {
  /** The values in the period before, if the person compares. Null where it is not known. */
  readonly before?: readonly (number | null)[];
}

/** The names in the answers, of figures that the console tells apart by longer ones. */
const COLUMNS: Readonly<Partial<Record<FigureName, string>>> = {
  sessionsListed: 'sessions',
  visitorsListed: 'visitors',
  targetClicks: 'clicks',
  customEventCount: 'count',
  errorCount: 'count',
  errorSessions: 'sessions',
  entrySessions: 'sessions',
  exitSessions: 'sessions',
  pageviewsListed: 'pageviews',
  eventCount: 'count',
  eventSessions: 'sessions',
  eventVisitors: 'visitors',
};

/** A list as the answers write it: names and numbers of the API, not those of a language. */
export function csvOfList(list: List, rows: readonly ListedRow[], isCompared: boolean): string {
  const hasPlaces = list.kind === 'place';
  const figures = list.figures.map((figure) => COLUMNS[figure] ?? figure);
  const head = [
    ...list.parts,
    ...(hasPlaces ? ['latitude', 'longitude'] : []),
    ...figures,
    ...(isCompared ? figures.map((figure) => `previous_${figure}`) : []),
  ];
  return csvOf(
    head,
    rows.map(({ names, at, values, before }) => [
      ...names,
      ...(hasPlaces ? (at ?? [null, null]) : []),
      ...values,
      ...(isCompared ? (before ?? values.map(() => null)) : []),
    ]),
  );
}
