import { periodAgainst } from '../analytics/view/against.ts';
import { zoneOf } from '../analytics/view/kept-zone.ts';
import { paramsOf, type Range } from '../analytics/view/range.ts';
import { dayStart } from '../analytics/view/zone.ts';
import { client } from '../api.ts';
import { fewAtOnce } from './few-at-once.ts';

const DAYS = 7;
/** A failure shows soon: the list asks again by itself when the service is back. */
const ONCE = { maxRetries: 0, timeoutMs: 10_000 } as const;

/** An app in a line. Days are those of the zone in which this browser last showed the app. */
export interface Glance {
  readonly today: number;
  /** Yesterday, until the same minute. */
  readonly yesterday: number;
  /** Each of the last days, today included. */
  readonly days: readonly number[];
  /** Visitors with an event in the last 5 minutes. */
  readonly active: number;
}

/** Asks three small questions. With the ETags of before, an app without news costs nothing. */
export async function glanceOf(appId: string, now: number, signal: AbortSignal): Promise<Glance> {
  const zone = zoneOf(appId);
  const end = dayStart(now, zone, 1) - 1;
  const visitors = async (range: Range): Promise<readonly number[]> => {
    const params = { appId, ...paramsOf(range), interval: 'day', timezone: zone } as const;
    const { data } = await fewAtOnce(signal, () => client.getSeries(params, { ...ONCE, signal }));
    return data.points.map((point) => point.visitors);
  };
  const today = { from: dayStart(now, zone), to: end };
  const until = periodAgainst(today, { against: 'previous', againstMinutes: null, zone }, now) ?? today;
  const [days, before, realtime] = await Promise.all([
    visitors({ from: dayStart(now, zone, 1 - DAYS), to: end }),
    visitors(until),
    fewAtOnce(signal, () => client.getRealtime({ appId }, { ...ONCE, signal })),
  ]);
  return {
    today: days.at(-1) ?? 0,
    yesterday: before[0] ?? 0,
    days,
    active: realtime.data.activeVisitors,
  };
}
