import type { TestServiceOptions } from './support.ts';

/** Friday 2026-11-20, 12:00 UTC, 15:30 in Tehran: the time of the questions about the sample. */
export const AT_NOON: TestServiceOptions = { now: '2026-11-20T12:00:00Z' };

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36';

/** Two sessions of two visitors. Every figure of the answers can be counted by hand. */
export const SAMPLE = [
  {
    id: 'wednesday',
    visitorId: 'v1',
    // 13:30 in Tehran.
    startedAt: '2026-11-18T10:00:00.000Z',
    context: {
      referrer: 'https://www.google.com/search',
      utm: { source: 'news', medium: 'email' },
      language: 'fa-IR',
      screen: '1920x1080',
      userAgent: CHROME,
      location: { country: 'IR', city: 'Tehran', latitude: 35.7, longitude: 51.4 },
    },
    events: [
      { type: 'pageview', timestamp: '2026-11-18T10:00:00.000Z', path: '/' },
      { type: 'engagement', timestamp: '2026-11-18T10:00:05.000Z', path: '/', durationMs: 5000 },
      { type: 'click', timestamp: '2026-11-18T10:00:10.000Z', path: '/', target: '#buy' },
      { type: 'pageview', timestamp: '2026-11-18T10:00:20.000Z', path: '/pricing?plan=pro' },
      { type: 'error', timestamp: '2026-11-18T10:00:21.000Z', path: '/pricing', message: 'boom' },
    ],
  },
  {
    id: 'thursday',
    visitorId: 'v2',
    // Friday 01:30 in Tehran.
    startedAt: '2026-11-19T22:00:00.000Z',
    context: { userAgent: CHROME },
    events: [
      { type: 'pageview', timestamp: '2026-11-19T22:00:00.000Z', path: '/' },
      {
        type: 'custom',
        timestamp: '2026-11-19T22:01:00.000Z',
        path: '/',
        name: 'signup',
        properties: { plan: 'pro' },
      },
    ],
  },
] as const;
