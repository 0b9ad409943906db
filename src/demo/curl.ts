import { DAY_MS, type EpochMs, epochMs, isoDay } from '../domain/time.ts';
import type { DemoState } from './state.ts';

/** Returns lines for a shell that fit on a screen: three exports, then questions. */
export function curlLines(
  url: string,
  { apiKey, appId }: Pick<DemoState, 'apiKey' | 'appId'>,
  now: EpochMs,
): string[] {
  const weekAgo = isoDay(epochMs(now - 7 * DAY_MS));
  const from = `from=${weekAgo}T00:00:00Z`;
  const get = (path: string): string => `curl -s -H "Authorization: Bearer $KEY" "$URL/api/v1/${path}"`;
  const of = (path: string, more = ''): string => get(`${path}?appId=$APP${more === '' ? '' : `&${more}`}`);
  return [
    `export URL='${url}'`,
    `export KEY='${apiKey}'`,
    `export APP='${appId}'`,
    '',
    get('apps'),
    of('sessions/overview/kpis'),
    of('sessions/overview/kpis', from),
    of('sessions/pageviews', 'limit=5'),
    of('sessions/timespent', 'limit=5'),
    of('sessions/user-growth', from),
    of('sessions/locations/all', 'limit=5'),
    of('growth/utm'),
  ];
}
