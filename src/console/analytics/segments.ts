import { useAgain } from '../again.ts';
import { useLoaded } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useLink } from '../link/context.ts';
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

/** Somebody who opened a link has none. */
export function useSavedSegments(): SavedSegments {
  const { view } = useAnalytics();
  const key = useLink() === null ? 'segments' : null;
  const { data: all = [], error, reload } = useLoaded(key, (signal) => ask('GET /segments', { signal }));
  useAgain(error, reload);
  const current = all.find(({ segment }) => segmentIn(segment) === view.segment);
  return { all, current, reload };
}
