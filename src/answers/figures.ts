/*
 * Declares every number of every answer once: its meaning, and its unit with the decimals to which it is rounded. Schemas,
 * KPIs and docs/figures.md are derived from these declarations.
 */

/** Each unit with its name and its decimals. Values are rounded half up, from exact integers. */
export const UNITS = {
  count: { name: 'number', decimals: 0, text: '' },
  milliseconds: { name: 'milliseconds', decimals: 0, text: 'Whole milliseconds.' },
  rate: { name: 'share, 0 to 1', decimals: 4, text: '0 to 1, 4 decimals.' },
  average: { name: 'average', decimals: 2, text: '2 decimals.' },
  percent: { name: 'percent', decimals: 2, text: 'Percent, 2 decimals; null where the value before is 0.' },
} as const;
export type Unit = keyof typeof UNITS;

export interface Figure {
  /** One sentence for readers of the answer. */
  readonly meaning: string;
  readonly unit: Unit;
}

const SESSIONS = 'Sessions that started in the range.';
const VISITORS = 'Different visitors of these sessions: each counts once, however often they came.';
const ALL_PAGEVIEWS = 'Page views that happened in the range.';
const ALL_CLICKS = 'Clicks that happened in the range.';
const ALL_ERRORS = 'Errors that happened in the range.';
const VISIBLE = 'How long pages were visible in the range.';

/** All figures by name. A name has one meaning, also if several answers contain it. */
export const FIGURES = {
  sessions: { meaning: SESSIONS, unit: 'count' },
  visitors: { meaning: VISITORS, unit: 'count' },
  newVisitors: {
    meaning: 'Visitors whose first ever session in the app started in the range.',
    unit: 'count',
  },
  returningVisitors: { meaning: 'Visitors who had come before the range.', unit: 'count' },
  bounces: {
    meaning: 'Sessions with at most one page view, and without a click and a custom event.',
    unit: 'count',
  },
  bounceRate: { meaning: 'The share of sessions that bounced.', unit: 'rate' },
  averageSessionDurationMs: {
    meaning: "The average time from a session's start to its last event.",
    unit: 'milliseconds',
  },
  pagesPerSession: { meaning: 'The average number of page views in a session.', unit: 'average' },
  clicksPerSession: { meaning: 'The average number of clicks in a session.', unit: 'average' },
  sessionsWithErrors: { meaning: 'Sessions in which at least one error happened.', unit: 'count' },
  errorRate: { meaning: 'The share of sessions in which an error happened.', unit: 'rate' },
  share: { meaning: 'The share of all sessions of the range.', unit: 'rate' },
  sessionsListed: { meaning: 'Sessions of the range that belong to this row.', unit: 'count' },
  visitorsListed: { meaning: 'Different visitors of the sessions of this row.', unit: 'count' },
  pageviews: { meaning: ALL_PAGEVIEWS, unit: 'count' },
  clicks: { meaning: ALL_CLICKS, unit: 'count' },
  errors: { meaning: ALL_ERRORS, unit: 'count' },
  customEvents: { meaning: 'Custom events that happened in the range.', unit: 'count' },
  uniquePages: { meaning: 'Different paths with a page view in the range.', unit: 'count' },
  averageTimeOnPageMs: {
    meaning: 'How long a page was visible on average, per page view.',
    unit: 'milliseconds',
  },
  engagedMs: { meaning: VISIBLE, unit: 'milliseconds' },
  views: { meaning: 'Views of the path in the range.', unit: 'count' },
  uniqueSessions: { meaning: 'Sessions with at least one view of the path in the range.', unit: 'count' },
  totalMs: { meaning: 'How long the path was visible in the range.', unit: 'milliseconds' },
  averageMs: {
    meaning: 'Visible time per view of the path in the range; per engagement event where it has no view.',
    unit: 'milliseconds',
  },
  targetClicks: { meaning: 'Clicks on the target in the range.', unit: 'count' },
  customEventCount: { meaning: 'Custom events with the name in the range.', unit: 'count' },
  errorCount: { meaning: 'Errors with the message in the range.', unit: 'count' },
  errorSessions: { meaning: 'Sessions with at least one such error in the range.', unit: 'count' },
  eventCount: { meaning: 'Events of this row in the range.', unit: 'count' },
  eventSessions: { meaning: 'Different sessions of these events.', unit: 'count' },
  eventVisitors: { meaning: 'Different visitors of these sessions.', unit: 'count' },
  entrySessions: { meaning: 'Sessions of the range whose first page was the path.', unit: 'count' },
  exitSessions: { meaning: 'Sessions of the range whose last page was the path.', unit: 'count' },
  daySessions: { meaning: 'Sessions that started on the day, within the range.', unit: 'count' },
  dayVisitors: { meaning: 'Different visitors of these sessions on the day.', unit: 'count' },
  dayPageviews: { meaning: 'Page views on the day, within the range.', unit: 'count' },
  dayClicks: { meaning: 'Clicks on the day, within the range.', unit: 'count' },
  pointSessions: {
    meaning: 'Sessions that started in the unit of the point, within the range.',
    unit: 'count',
  },
  pointVisitors: { meaning: 'Different visitors of the sessions of the point.', unit: 'count' },
  pointPageviews: { meaning: 'Page views in the unit of the point, within the range.', unit: 'count' },
  pointClicks: { meaning: 'Clicks in the unit of the point, within the range.', unit: 'count' },
  pointErrors: { meaning: 'Errors in the unit of the point, within the range.', unit: 'count' },
  pageviewsListed: { meaning: 'Page views of the sessions of this row.', unit: 'count' },
  visitorsNow: { meaning: 'Different visitors with an event in the 30 minutes.', unit: 'count' },
  sessionsNow: { meaning: 'Sessions with an event in the 30 minutes.', unit: 'count' },
  activeVisitors: {
    meaning: 'Different visitors with an event in the last 5 of these minutes.',
    unit: 'count',
  },
  minuteVisitors: { meaning: 'Different visitors with an event in the minute.', unit: 'count' },
  minutePageviews: { meaning: 'Page views in the minute.', unit: 'count' },
  sessionsNowListed: { meaning: 'Sessions of the 30 minutes that belong to this row.', unit: 'count' },
  hourSessions: { meaning: 'Sessions that started in the hour, for each of 24 hours.', unit: 'count' },
  hourVisitors: { meaning: 'Different visitors of the sessions of the hour.', unit: 'count' },
  hourPageviews: { meaning: 'Page views in the hour.', unit: 'count' },
  averageSessions: {
    meaning: 'Sessions that start in the hour on this weekday, on average.',
    unit: 'average',
  },
  averageVisitors: {
    meaning: 'Different visitors of the hour on this weekday, on average.',
    unit: 'average',
  },
  averagePageviews: { meaning: 'Page views in the hour on this weekday, on average.', unit: 'average' },
} as const satisfies Readonly<Record<string, Figure>>;
export type FigureName = keyof typeof FIGURES;

/** The figures that KPIs compare, in the order of the answer. */
export const KPI_FIGURES = [
  'sessions',
  'visitors',
  'pageviews',
  'clicks',
  'errors',
  'bounceRate',
  'averageSessionDurationMs',
  'pagesPerSession',
] as const satisfies readonly FigureName[];

export const decimalsOf = (name: FigureName): number => UNITS[FIGURES[name].unit].decimals;
