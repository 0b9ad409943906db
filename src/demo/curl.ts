import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, epochMs, toIso } from '../domain/time.ts';
import type { DemoState } from './state.ts';

/** Returns lines for a shell: three exports, then a question of each kind, a new app and a page view. */
export function curlLines(url: string, state: DemoState, now: EpochMs): string[] {
  const week = `from=${toIso(epochMs(now - 7 * DAY_MS))}&to=${toIso(now)}`;
  const key = '-H "Authorization: Bearer $KEY"';
  const json = (body: object): string => `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const get = (path: string, query = ''): string => `curl -s ${key} "$URL/api/v1${path}${query}"`;
  const of = (path: string, more = ''): string => get(path, `?appId=$APP${more === '' ? '' : `&${more}`}`);
  return [
    `export URL='${url}'`,
    `export KEY='${state.apiKey}'`,
    `export APP='${state.appId}'`,
    '',
    get('/apps'),
    of('/sessions/data-bounds'),
    of('/sessions/overview/kpis'),
    of('/sessions/overview/kpis', week),
    of('/sessions/overview/extended', week),
    of('/sessions/pageviews', 'limit=5'),
    of('/sessions/timespent', 'limit=5'),
    of('/sessions/user-growth', week),
    of('/sessions/traffic-heatmap'),
    of('/sessions/traffic-audience-activity'),
    of('/sessions/locations/all', 'limit=5'),
    of('/growth/utm'),
    `curl -s ${key} ${json({ name: 'My site', domain: 'https://my-site.example' })} "$URL/api/v1/apps"`,
    `curl -s ${json(oneVisit(state, now))} "$URL/sdk/v1/events"`,
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
