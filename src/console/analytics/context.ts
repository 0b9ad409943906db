import { createContext, type RefObject, useContext, useEffect, useRef } from 'react';
import type { Data, ExtendedOverview, LiveQuestion, Params, RangeParams } from '../../client/index.ts';
import { type Loaded, type LoadOptions, usePublic } from '../answers.ts';
import { useSeen } from '../parts/in-view.ts';
import { useTold } from './questions.ts';
import type { Range } from './view/range.ts';
import type { View } from './view/view.ts';

/** A period to compare with. */
export interface Period {
  readonly range: Range;
  readonly params: RangeParams;
  /** The same for all ends that the period gets while the range runs. */
  readonly like: string;
}

/** The data that all panels of the page share. */
export interface Analytics {
  readonly appId: string;
  /** Undefined until it is known. */
  readonly appName: string | undefined;
  readonly view: View;
  readonly change: (part: Partial<View>) => void;
  readonly now: number;
  readonly range: Range;
  readonly params: RangeParams;
  /** The period that changes are against, as much of it as counts; null for none. */
  readonly against: Period | null;
  /** The same, if its values stand beside those of the range. */
  readonly before: Period | null;
  /** The first session of the app. Undefined until it is known; null without one. */
  readonly oldest: number | null | undefined;
  readonly overview: Loaded<ExtendedOverview>;
  readonly overviewBefore: Loaded<ExtendedOverview>;
  /** Grows when new events may have changed the answers. */
  readonly version: number;
  readonly isRtl: boolean;
  /** True while the page is made ready for paper: panels out of view ask, too. */
  readonly isWhole: boolean;
}

const AnalyticsContext = createContext<Analytics | null>(null);
export const AnalyticsProvider = AnalyticsContext.Provider;

export function useAnalytics(): Analytics {
  const analytics = useContext(AnalyticsContext);
  if (analytics === null) throw new Error('There is no analytics page around this component.');
  return analytics;
}

/** Asks a question while it `isAsked`, and again when new events came in. */
export function useFigures<Q extends LiveQuestion>(
  question: Q,
  params: Params<Q> | null,
  version: number,
  { isAsked = true, like }: LoadOptions = {},
): Loaded<Data<Q>> {
  const isNow = params !== null && isAsked;
  const loaded = usePublic(question, params, { isAsked: isNow, like });
  useReload(version, isNow, loaded);
  useTold(loaded, isNow);
  return loaded;
}

/** Asks the same of the other period. An error leaves no figures: older ones would be taken for those of the period. */
export function useEarlierFigures<Q extends LiveQuestion>(
  question: Q,
  params: Params<Q> | null,
  version: number,
  options: LoadOptions,
): Loaded<Data<Q>> {
  const loaded = useFigures(question, params, version, options);
  return loaded.error === null ? loaded : { ...loaded, data: undefined };
}

/**
 * Asks again when the version has grown. An answer on its way is waited for: it would never arrive if it took longer than
 * the versions need to follow each other. A panel that comes into view asks by itself.
 */
export function useReload(version: number, isAsked: boolean, { isLoading, reload }: Loaded<unknown>): void {
  const known = useRef(version);
  useEffect(() => {
    if (known.current === version || (isAsked && isLoading)) return;
    known.current = version;
    if (isAsked) reload();
  }, [version, isAsked, isLoading, reload]);
}

/** True while the element is in view, or nearly, or on paper. */
export function useInView<E extends Element>(): {
  readonly ref: RefObject<E | null>;
  readonly isInView: boolean;
} {
  const { isWhole } = useAnalytics();
  const { ref, isSeen } = useSeen<E>();
  return { ref, isInView: isSeen || isWhole };
}
