import type { Realtime } from '../../../client/index.ts';
import { csvOf } from '../view/csv.ts';

export const csvOfNow = (minutes: Realtime['minutes']): string =>
  csvOf(
    ['from', 'visitors', 'pageviews'],
    minutes.map(({ start, visitors, pageviews }) => [start, visitors, pageviews]),
  );
