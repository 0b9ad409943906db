import { ratio } from '../../src/analytics/answers/rounding.ts';

/* The decimals are written down here a second time, so that a wrong one in the service shows. */

export const rate = (part: number, whole: number): number => ratio(part, whole, 4);
export const perSession = (count: number, sessions: number): number => ratio(count, sessions, 2);
export const averageMs = (total: number, count: number): number => ratio(total, count, 0);
