import { useAgain } from '../again.ts';
import { useAnswer } from '../answers.ts';
import type { Answer } from '../api.ts';
import { useAnalytics } from './context.ts';
import { segmentIn } from './view/filters.ts';

export type SavedSegment = Answer<'GET /segments'>[number];

/** The segments of the account, by name. */
export interface SavedSegments {
  readonly all: readonly SavedSegment[];
  /** The one that has the filters of the page. */
  readonly current: SavedSegment | undefined;
  readonly reload: () => void;
}

export function useSavedSegments(): SavedSegments {
  const { view } = useAnalytics();
  const { data: all = [], error, reload } = useAnswer('GET /segments');
  useAgain(error, reload);
  const current = all.find(({ segment }) => segmentIn(segment) === view.segment);
  return { all, current, reload };
}
