import { ApiError, createClient } from 'session-analytics-client';

const WEEK_MS = 7 * 24 * 3_600_000;

/**
 * The code of this example: a line of text about an app's last seven days.
 * @param {{ baseUrl: string, apiKey: string, appId: string, now?: Date, maxRetries?: number }} options
 */
export async function weeklyReport({ baseUrl, apiKey, appId, now = new Date(), maxRetries = 4 }) {
  const client = createClient({ baseUrl, apiKey, maxRetries });
  const range = { appId, from: new Date(now.getTime() - WEEK_MS), to: now };
  try {
    const { data } = await client.getOverviewKpis(range);
    const { data: pages } = await client.listPageviews({ ...range, limit: 1 });
    const top = pages[0] === undefined ? 'no page' : `${pages[0].path} (${pages[0].views})`;
    const { sessions, pageviews } = data.current;
    return `${sessions} sessions, ${pageviews} pageviews, most on ${top}`;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'app_access_denied')
      return 'The key cannot read this app.';
    if (error instanceof ApiError && error.status === 503) return 'The figures are not available now.';
    throw error;
  }
}
