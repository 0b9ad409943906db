import { afterEach, expect, test } from 'vitest';
import { activityWindow, heatmapWindow, tehranTime } from '../../src/analytics/range/tehran.ts';
import { epochMs } from '../../src/domain/time.ts';
import * as oracle from '../support/oracle/tehran.ts';

const DAY = 86_400_000;
const HALF_HOUR = 1_800_000;
const ZONE = process.env['TZ'];
afterEach(() => {
  if (ZONE === undefined) delete process.env['TZ'];
  else process.env['TZ'] = ZONE;
});

/** The days around which clocks are changed in Tehran, Berlin, St. John's or Apia. */
const CHANGES = [
  '2022-03-13',
  '2022-03-21',
  '2022-03-27',
  '2022-09-21',
  '2022-10-30',
  '2026-03-08',
  '2026-03-29',
  '2026-10-25',
  '2026-11-01',
];

test.each(['UTC', 'Asia/Tehran', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia'])(
  'the time in Tehran is right in a process whose own time zone is %s',
  (zone) => {
    process.env['TZ'] = zone;
    for (const day of CHANGES) {
      const from = Date.parse(day) - DAY;
      for (let ms = from; ms < from + 3 * DAY; ms += HALF_HOUR) {
        const at = epochMs(ms + zone.length);
        const { date, hour, dayOfWeek } = oracle.tehranTime(at);
        expect(tehranTime(at), new Date(at).toISOString()).toEqual({ date, hour, weekday: dayOfWeek });
        const { dates, range } = heatmapWindow(at);
        expect(dates.at(-1)).toBe(date);
        expect(range.from).toBe(oracle.tehranDayStart(dates[0] ?? ''));
        expect(tehranTime(epochMs(range.to + 1)).date > date).toBe(true);
        expect(tehranTime(range.to).date).toBe(date);
        expect(activityWindow(at).to + 1).toBe(oracle.tehranHourStart(at) + 2 * HALF_HOUR);
      }
    }
  },
);
