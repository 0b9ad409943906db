import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, epochMs, toIso } from '../domain/time.ts';
import type { DemoState } from './state.ts';

/** Returns one command per endpoint, ready to be pasted into a shell. */
export function curlLines(url: string, state: DemoState, now: EpochMs): string[] {
  const key = `-H 'Authorization: Bearer ${state.apiKey}'`;
  const week = `from=${toIso(epochMs(now - 7 * DAY_MS))}&to=${toIso(now)}`;
  const get = (path: string, query = `?appId=${state.appId}`): string =>
    `curl -s ${key} '${url}${path}${query}'`;
  const of = (path: string, more: string): string => get(path, `?appId=${state.appId}&${more}`);
  return [
    get('/api/v1/apps', ''),
    get('/api/v1/sessions/data-bounds'),
    get('/api/v1/sessions/overview/kpis'),
    of('/api/v1/sessions/overview/kpis', week),
    of('/api/v1/sessions/overview/extended', week),
    of('/api/v1/sessions/pageviews', 'limit=5'),
    of('/api/v1/sessions/timespent', 'limit=5'),
    of('/api/v1/sessions/user-growth', week),
    get('/api/v1/sessions/traffic-heatmap'),
    get('/api/v1/sessions/traffic-audience-activity'),
    of('/api/v1/sessions/locations/all', 'limit=5'),
    get('/api/v1/growth/utm'),
    `curl -s -X POST ${key} -H 'Content-Type: application/json' -d '${JSON.stringify({
      name: 'My site',
      domain: 'https://my-site.example',
    })}' '${url}/api/v1/apps'`,
    `curl -s -X POST -H 'Content-Type: application/json' -d '${JSON.stringify(oneVisit(state, now))}' '${url}/sdk/v1/events'`,
  ];
}

/** The batch that a browser's SDK would send for one page. */
const oneVisit = ({ appId, secretKey }: DemoState, now: EpochMs): object => ({
  appId,
  secretKey,
  batchId: randomUUID(),
  sessions: [
    {
      id: `pasted-${now}`,
      visitorId: 'you',
      startedAt: toIso(now),
      events: [{ type: 'pageview', timestamp: toIso(now), path: '/hello' }],
    },
  ],
});
