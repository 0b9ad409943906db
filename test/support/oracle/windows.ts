import type { AudienceActivity, TrafficHeatmap } from '../../../src/answers/times.ts';
import { distinct, ratio } from './exact.ts';
import type { Session } from './model.ts';
import { eventsIn, iso, startedIn } from './questions.ts';
import { dateAfter, tehranDayStart, tehranHourStart, tehranTime } from './tehran.ts';

const HOUR = 3_600_000;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const WINDOW_HOURS = 672;
/**
 * By definition four hours per cell. If daylight saving changes within the window, a few cells have 3 or 5.
 */
const HOURS_PER_CELL = 4;

/** The last 7 Tehran dates. Sessions after the current hour are not counted. */
export function trafficHeatmap(all: readonly Session[], now: number): TrafficHeatmap {
  const today = tehranTime(now).date;
  const dates = [-6, -5, -4, -3, -2, -1, 0].map((days) => dateAfter(today, days));
  const from = tehranDayStart(dateAfter(today, -6));
  const so = { from, to: tehranHourStart(now) + HOUR - 1 };
  const cell = (at: number): string => `${tehranTime(at).date} ${tehranTime(at).hour}`;
  const sessions = startedIn(all, so).map(({ startedAt, visitor }) => ({ cell: cell(startedAt), visitor }));
  const views = eventsIn(all, so, 'pageview').map(({ timestamp }) => cell(timestamp));
  return {
    timezone: 'Asia/Tehran',
    from: iso(from),
    to: iso(tehranDayStart(dateAfter(today, 1)) - 1),
    days: dates.map((date) => {
      const at = (hour: number) => sessions.filter((session) => session.cell === `${date} ${hour}`);
      return {
        date,
        sessions: HOURS.map((hour) => at(hour).length),
        visitors: HOURS.map((hour) => distinct(at(hour).map(({ visitor }) => visitor))),
        pageviews: HOURS.map((hour) => views.filter((view) => view === `${date} ${hour}`).length),
      };
    }),
  };
}

/** Averages over the hours of the window with the same day of the week and hour. */
export function audienceActivity(all: readonly Session[], now: number): AudienceActivity {
  const last = tehranHourStart(now);
  const first = last - (WINDOW_HOURS - 1) * HOUR;
  const window = { from: first, to: last + HOUR - 1 };
  const sessions = startedIn(all, window);
  const views = eventsIn(all, window, 'pageview');
  const hours = Array.from({ length: WINDOW_HOURS }, (_, i) => {
    const start = first + i * HOUR;
    const inside = (at: number): boolean => at >= start && at < start + HOUR;
    const started = sessions.filter(({ startedAt }) => inside(startedAt));
    return {
      local: tehranTime(start),
      sessions: started.length,
      visitors: distinct(started.map(({ visitor }) => visitor)),
      pageviews: views.filter(({ timestamp }) => inside(timestamp)).length,
    };
  });
  const average = (dayOfWeek: number, metric: 'sessions' | 'visitors' | 'pageviews'): number[] =>
    HOURS.map((hour) => {
      const cell = hours.filter(({ local }) => local.dayOfWeek === dayOfWeek && local.hour === hour);
      const total = cell.reduce((sum, of) => sum + of[metric], 0);
      return ratio(total, HOURS_PER_CELL, 2);
    });
  return {
    timezone: 'Asia/Tehran',
    from: iso(window.from),
    to: iso(window.to),
    windowDays: 28,
    days: [1, 2, 3, 4, 5, 6, 7].map((dayOfWeek) => ({
      dayOfWeek,
      sessions: average(dayOfWeek, 'sessions'),
      visitors: average(dayOfWeek, 'visitors'),
      pageviews: average(dayOfWeek, 'pageviews'),
    })),
  };
}
