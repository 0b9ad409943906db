import type { DataBounds } from '../../answers/times.ts';
import { toIso } from '../../domain/time.ts';
import type { AppFacts } from '../input/app-facts.ts';

export const dataBounds = ({ starts }: AppFacts): DataBounds =>
  starts === null ? { oldest: null, newest: null } : { oldest: toIso(starts.from), newest: toIso(starts.to) };
