import { randomUUID } from 'node:crypto';
import { visits } from '../../src/demo/visits.ts';
import { epochMs } from '../../src/domain/time.ts';
import type { SessionSeed } from '../../src/testing/types.ts';
import { dateAfter, tehranDayStart, tehranTime } from '../support/oracle/tehran.ts';

const DAY_MS = 86_400_000;

/**
 * The demo's visits of the last days, and one more at the start of yesterday and of today, of UTC and of Tehran: these have
 * visits, at whatever time the tests run.
 */
export function demoVisits(now: number, days: number): SessionSeed[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const { date } = tehranTime(now);
  const starts = [today - DAY_MS, today, tehranDayStart(dateAfter(date, -1)), tehranDayStart(date)];
  const made = [...visits(epochMs(now - days * DAY_MS), epochMs(now))] as SessionSeed[];
  const atStarts = starts.map((at): SessionSeed => {
    const startedAt = new Date(at).toISOString();
    return {
      id: randomUUID(),
      visitorId: randomUUID(),
      startedAt,
      context: made[0]?.context ?? {},
      events: [{ type: 'pageview', timestamp: startedAt, path: '/' }],
    };
  });
  return [...made, ...atStarts];
}
