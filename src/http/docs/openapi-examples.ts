/**
 * Examples for the documentation. The answers are those of one small app, which the tests fill and query.
 * They fail if an example is not the service's answer.
 */

/** The range of the examples that have one. */
export const EXAMPLE_RANGE = { from: '2026-11-18T00:00:00Z', to: '2026-11-20T23:59:59.999Z' } as const;
export const EXAMPLE_APP = '6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90';
export const EXAMPLE_BODY = { name: 'Blog', domain: 'https://blog.example' } as const;

/** 24 values, one per hour. */
const hours = (values: Readonly<Record<number, number>>): number[] =>
  Array.from({ length: 24 }, (_, hour) => values[hour] ?? 0);

/** The answers by operation. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  listApps: [
    {
      id: '6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90',
      name: 'Shop',
      domain: 'https://shop.example',
      access: 'owner',
      createdAt: '2026-11-20T12:00:00.000Z',
    },
  ],
  createApp: {
    id: 'b2a7c1de-30f4-4a8e-9d52-7c0a4f6b1e83',
    name: 'Blog',
    domain: 'https://blog.example',
    access: 'owner',
    createdAt: '2026-11-20T12:00:00.000Z',
    secretKey: 'app_secret_…',
  },
  getDataBounds: { oldest: '2026-11-18T10:00:00.000Z', newest: '2026-11-19T22:00:00.000Z' },
  getExtendedOverview: {
    from: '2026-11-18T00:00:00.000Z',
    to: '2026-11-20T23:59:59.999Z',
    session: {
      sessions: 2,
      visitors: 2,
      newVisitors: 2,
      returningVisitors: 0,
      bounces: 0,
      bounceRate: 0,
      averageDurationMs: 40500,
    },
    page: {
      pageviews: 3,
      uniquePages: 2,
      pagesPerSession: 1.5,
      averageTimeOnPageMs: 1667,
      topPages: [
        { path: '/', views: 2, uniqueSessions: 2 },
        { path: '/pricing', views: 1, uniqueSessions: 1 },
      ],
      entryPages: [{ path: '/', sessions: 2 }],
      exitPages: [
        { path: '/', sessions: 1 },
        { path: '/pricing', sessions: 1 },
      ],
    },
    interaction: {
      clicks: 1,
      clicksPerSession: 0.5,
      customEvents: 1,
      engagedMs: 5000,
      topTargets: [{ target: '#buy', clicks: 1 }],
      topCustomEvents: [{ name: 'signup', count: 1 }],
    },
    technology: {
      browsers: [{ name: 'Chrome', sessions: 2, share: 1 }],
      operatingSystems: [{ name: 'Windows', sessions: 2, share: 1 }],
      devices: [{ name: 'desktop', sessions: 2, share: 1 }],
      screenSizes: [
        { name: '(none)', sessions: 1, share: 0.5 },
        { name: '1920x1080', sessions: 1, share: 0.5 },
      ],
      languages: [
        { name: '(none)', sessions: 1, share: 0.5 },
        { name: 'fa-IR', sessions: 1, share: 0.5 },
      ],
    },
    error: {
      errors: 1,
      sessionsWithErrors: 1,
      errorRate: 0.5,
      topErrors: [{ message: 'boom', count: 1, sessions: 1 }],
    },
    traffic: {
      channels: [
        { name: 'direct', sessions: 1, share: 0.5 },
        { name: 'email', sessions: 1, share: 0.5 },
      ],
      referrers: [
        { name: '(none)', sessions: 1, share: 0.5 },
        { name: 'google.com', sessions: 1, share: 0.5 },
      ],
      countries: [
        { name: '(none)', sessions: 1, share: 0.5 },
        { name: 'IR', sessions: 1, share: 0.5 },
      ],
      utmSources: [
        { name: '(none)', sessions: 1, share: 0.5 },
        { name: 'news', sessions: 1, share: 0.5 },
      ],
    },
  },
  getOverviewKpis: {
    current: {
      from: '2026-11-18T00:00:00.000Z',
      to: '2026-11-20T23:59:59.999Z',
      sessions: 2,
      visitors: 2,
      pageviews: 3,
      clicks: 1,
      errors: 1,
      bounceRate: 0,
      averageSessionDurationMs: 40500,
      pagesPerSession: 1.5,
    },
    previous: {
      from: '2026-11-15T00:00:00.000Z',
      to: '2026-11-17T23:59:59.999Z',
      sessions: 0,
      visitors: 0,
      pageviews: 0,
      clicks: 0,
      errors: 0,
      bounceRate: 0,
      averageSessionDurationMs: 0,
      pagesPerSession: 0,
    },
    change: {
      sessions: 2,
      visitors: 2,
      pageviews: 3,
      clicks: 1,
      errors: 1,
      bounceRate: 0,
      averageSessionDurationMs: 40500,
      pagesPerSession: 1.5,
    },
    changePercent: {
      sessions: null,
      visitors: null,
      pageviews: null,
      clicks: null,
      errors: null,
      bounceRate: null,
      averageSessionDurationMs: null,
      pagesPerSession: null,
    },
  },
  listPageviews: [
    { path: '/', views: 2, uniqueSessions: 2 },
    { path: '/pricing', views: 1, uniqueSessions: 1 },
  ],
  listTimeSpent: [{ path: '/', totalMs: 5000, averageMs: 2500 }],
  listEvents: [{ name: 'signup', count: 1, sessions: 1, visitors: 1 }],
  listUserGrowth: [
    { date: '2026-11-18', sessions: 1, visitors: 1, pageviews: 2, clicks: 1 },
    { date: '2026-11-19', sessions: 1, visitors: 1, pageviews: 1, clicks: 0 },
    { date: '2026-11-20', sessions: 0, visitors: 0, pageviews: 0, clicks: 0 },
  ],
  getTrafficHeatmap: {
    timezone: 'Asia/Tehran',
    from: '2026-11-13T20:30:00.000Z',
    to: '2026-11-20T20:29:59.999Z',
    days: [
      { date: '2026-11-14', sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      { date: '2026-11-15', sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      { date: '2026-11-16', sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      { date: '2026-11-17', sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      {
        date: '2026-11-18',
        sessions: hours({ 13: 1 }),
        visitors: hours({ 13: 1 }),
        pageviews: hours({ 13: 2 }),
      },
      { date: '2026-11-19', sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      {
        date: '2026-11-20',
        sessions: hours({ 1: 1 }),
        visitors: hours({ 1: 1 }),
        pageviews: hours({ 1: 1 }),
      },
    ],
  },
  getAudienceActivity: {
    timezone: 'Asia/Tehran',
    from: '2026-10-23T12:30:00.000Z',
    to: '2026-11-20T12:29:59.999Z',
    windowDays: 28,
    days: [
      { dayOfWeek: 1, sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      { dayOfWeek: 2, sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      {
        dayOfWeek: 3,
        sessions: hours({ 13: 0.25 }),
        visitors: hours({ 13: 0.25 }),
        pageviews: hours({ 13: 0.5 }),
      },
      { dayOfWeek: 4, sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      {
        dayOfWeek: 5,
        sessions: hours({ 1: 0.25 }),
        visitors: hours({ 1: 0.25 }),
        pageviews: hours({ 1: 0.25 }),
      },
      { dayOfWeek: 6, sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
      { dayOfWeek: 7, sessions: hours({}), visitors: hours({}), pageviews: hours({}) },
    ],
  },
  listLocations: [{ country: 'IR', region: null, city: 'Tehran', latitude: 35.7, longitude: 51.4, count: 1 }],
  listUtmCampaigns: [
    { source: 'news', medium: 'email', campaign: null, term: null, content: null, sessions: 1, visitors: 1 },
  ],
  getSeries: {
    interval: 'day',
    timezone: 'Asia/Tehran',
    points: [
      {
        start: '2026-11-17T20:30:00.000Z',
        sessions: 1,
        visitors: 1,
        pageviews: 2,
        clicks: 1,
        errors: 1,
        bounceRate: 0,
        averageSessionDurationMs: 21000,
        pagesPerSession: 2,
      },
      {
        start: '2026-11-18T20:30:00.000Z',
        sessions: 0,
        visitors: 0,
        pageviews: 0,
        clicks: 0,
        errors: 0,
        bounceRate: 0,
        averageSessionDurationMs: 0,
        pagesPerSession: 0,
      },
      {
        start: '2026-11-19T20:30:00.000Z',
        sessions: 1,
        visitors: 1,
        pageviews: 1,
        clicks: 0,
        errors: 0,
        bounceRate: 0,
        averageSessionDurationMs: 60000,
        pagesPerSession: 1,
      },
      {
        start: '2026-11-20T20:30:00.000Z',
        sessions: 0,
        visitors: 0,
        pageviews: 0,
        clicks: 0,
        errors: 0,
        bounceRate: 0,
        averageSessionDurationMs: 0,
        pagesPerSession: 0,
      },
    ],
  },
  listBreakdown: [
    {
      name: 'IR',
      sessions: 1,
      visitors: 1,
      share: 0.5,
      pageviews: 2,
      bounceRate: 0,
      averageSessionDurationMs: 21000,
      pagesPerSession: 2,
    },
    {
      name: null,
      sessions: 1,
      visitors: 1,
      share: 0.5,
      pageviews: 1,
      bounceRate: 0,
      averageSessionDurationMs: 60000,
      pagesPerSession: 1,
    },
  ],
  getRealtime: {
    from: '2026-11-20T11:31:00.000Z',
    to: '2026-11-20T12:00:59.999Z',
    visitors: 0,
    sessions: 0,
    pageviews: 0,
    activeVisitors: 0,
    minutes: Array.from({ length: 30 }, (_, minute) => ({
      start: new Date(Date.UTC(2026, 10, 20, 11, 31 + minute)).toISOString(),
      visitors: 0,
      pageviews: 0,
    })),
    pages: [],
    channels: [],
    countries: [],
  },
};
