import { toIso } from '../../domain/time.ts';
import type { AppFacts } from '../ask.ts';
import type { DataBounds } from '../results.ts';

export const dataBounds = ({ starts }: AppFacts): DataBounds =>
  starts === null ? { oldest: null, newest: null } : { oldest: toIso(starts.from), newest: toIso(starts.to) };
