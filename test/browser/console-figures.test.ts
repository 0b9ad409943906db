import { describe, expect, test } from 'vitest';
import { KPI_FIGURES } from '../../src/answers/figures.ts';
import type {
  ExtendedOverview,
  KpiComparison,
  PageView,
  Series,
  TrafficHeatmap,
} from '../../src/client/index.ts';
import { formatOf } from '../../src/console/i18n/format.ts';
import { eventually, panel, rowsOf, textOf } from './analytics.ts';
import { DAY_MS, KPIS, withAnalytics } from './analytics-page.ts';
import type { Visitor } from './console.ts';

const stage = withAnalytics();
const format = formatOf('en-GB');

/** The page asks for the whole range first, and then for its parts. */
const kpisOf = (visitor: Visitor): Promise<KpiComparison> =>
  stage.answer({ ...visitor, requests: [visitor.requests.find((url) => url.includes(KPIS)) ?? ''] }, KPIS);

const written = (name: (typeof KPI_FIGURES)[number], value: number): string => {
  if (name === 'averageSessionDurationMs') return format.seconds(value / 1000);
  if (name === 'bounceRate') return format.percent(value);
  return name === 'pagesPerSession' ? value.toFixed(2) : format.number(value);
};

describe('figures are those of the API', () => {
  test('key figures, their change, and the lists', async () => {
    // A range that is over is compared with the whole one before, as the answer does it.
    const day = (daysAgo: number): string =>
      new Date(stage.service.clock.now().getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const visitor = await stage.analytics(`?from=${day(7)}T00:00&to=${day(1)}T23:59&zone=utc`);
    const { page, complaints } = visitor;
    await page.locator('.tile .change').first().waitFor();
    const kpis = await kpisOf(visitor);
    for (const name of KPI_FIGURES) {
      expect(await textOf(page, `[data-figure=${name}] .tile-value`)).toBe(written(name, kpis.current[name]));
      const points = Math.round((kpis.change.bounceRate ?? 0) * 10_000) / 100;
      const { [name]: before } = kpis.previous;
      const percent = name === 'bounceRate' ? points : ((kpis.current[name] - before) / before) * 100;
      expect(await textOf(page, `[data-figure=${name}] .change`)).toContain(
        format.number(Math.abs(percent), { maximumFractionDigits: Math.abs(percent) < 100 ? 1 : 0 }),
      );
    }
    expect(await textOf(page, '.period')).toContain('Compared with: ');
    await panel(page, 'Pages').locator('tbody tr').first().waitFor();
    const pages = await stage.answer<PageView[]>(visitor, '/sessions/pageviews');
    expect(await rowsOf(page, 'Pages')).toEqual(
      pages
        .slice(0, 10)
        .map(({ path, views, uniqueSessions }) => [
          path,
          format.number(views),
          format.number(uniqueSessions),
        ]),
    );
    await panel(page, 'Technology').locator('tbody tr').first().waitFor();
    const overview = await stage.answer<ExtendedOverview>(visitor, '/sessions/overview/extended');
    expect((await rowsOf(page, 'Technology')).map(([name, sessions]) => [name, sessions])).toEqual(
      overview.technology.browsers.map(({ name, sessions }) => [name, format.number(sessions)]),
    );
    expect(await textOf(page, 'dl [data-figure=newVisitors] .fact-value')).toBe(
      format.number(overview.session.newVisitors),
    );
    expect(complaints).toEqual([]);
  });

  test('growth and heatmaps have tables with every value', async () => {
    const visitor = await stage.analytics();
    const { page } = visitor;
    await panel(page, 'Growth').getByRole('button', { name: 'Table' }).click();
    const { points: days } = await stage.answer<Series>(visitor, '/sessions/series');
    await eventually(async () => (await rowsOf(page, 'Growth')).map(([, ...values]) => values)).toEqual(
      days.map((day) =>
        [day.sessions, day.visitors, day.pageviews, day.clicks].map((value) => format.number(value)),
      ),
    );
    const heatmap = panel(page, 'Last 7 days, by hour');
    await heatmap.scrollIntoViewIfNeeded();
    await heatmap.locator('rect').first().waitFor();
    await heatmap.getByRole('button', { name: 'Table' }).click();
    const { days: week } = await stage.answer<TrafficHeatmap>(visitor, '/sessions/traffic-heatmap');
    const shown = await rowsOf(page, 'Last 7 days, by hour');
    // Hours to come have no value.
    expect(shown.map(([, ...hours]) => hours.map((text) => (text === '–' ? '0' : text)))).toEqual(
      week.map(({ sessions }) => sessions.map((value) => format.number(value))),
    );
  });

  test('a chart by hour, day, week and month has the answer of the series', async () => {
    const visitor = await stage.analytics('?range=28d&zone=tehran');
    const { page } = visitor;
    await panel(page, 'Growth').getByRole('button', { name: 'Table' }).click();
    for (const [name, interval] of [
      ['Week', 'week'],
      ['Hour', 'hour'],
      ['Day', 'day'],
    ] as const) {
      await panel(page, 'Growth').getByText(name, { exact: true }).click();
      await eventually(() => new URL(page.url()).searchParams.get('by')).toBe(interval);
      await page.locator('section[aria-label="Growth"][aria-busy="false"]').waitFor();
      const { points, ...asked } = await stage.answer<Series>(visitor, '/sessions/series');
      expect(asked).toEqual({ interval, timezone: 'Asia/Tehran' });
      const shown = (await rowsOf(page, 'Growth')).map(([, sessions]) => (sessions === '–' ? '0' : sessions));
      expect(shown).toEqual(points.map(({ sessions }) => format.number(sessions)));
    }
  });
});

test('everything stands beside the period before', async () => {
  const dayAgo = (days: number): string =>
    new Date(stage.service.clock.now().getTime() - days * DAY_MS).toISOString().slice(0, 10);
  const visitor = await stage.analytics(`?from=${dayAgo(7)}T00:00&to=${dayAgo(1)}T23:59&zone=utc&compare=1`);
  const { page, requests } = visitor;
  await page.locator('.tile-before').first().waitFor();
  const kpis = await kpisOf(visitor);
  expect(await textOf(page, '[data-figure=sessions] .tile-before')).toBe(
    `Compared: ${format.number(kpis.previous.sessions)}`,
  );
  await eventually(async () => (await rowsOf(page, 'Pages'))[0]?.[3]).toMatch(/^\d/);
  const { from, to } = kpis.previous;
  const before = `/api/v1/sessions/pageviews?appId=${stage.service.app}&from=${from}&to=${to}`;
  const earlier = new Map(
    ((await stage.service.ask(before)).json as PageView[]).map(({ path, views }) => [path, views]),
  );
  for (const [path = '', , , previous] of await rowsOf(page, 'Pages')) {
    expect(previous).toBe(format.number(earlier.get(path) ?? 0));
  }
  await page.locator('.line-second').waitFor({ state: 'attached' });
  await panel(page, 'Growth').getByRole('button', { name: 'Table' }).click();
  expect((await rowsOf(page, 'Growth'))[0]).toHaveLength(9);
  const asked = requests.filter((url) => url.includes(`to=${encodeURIComponent(to)}`)).join('\n');
  for (const path of ['series', 'pageviews', 'overview/extended']) expect(asked).toContain(path);
});

test('each figure tells its meaning, and its call works when it is pasted', async () => {
  const { page, requests } = await stage.analytics();
  await page.getByRole('button', { name: 'About Bounce rate' }).click();
  const about = page.getByRole('dialog');
  await about.getByText('The share of sessions that bounced.').waitFor();
  await about.getByRole('button', { name: 'Copy the call' }).click();
  const curl = (await page.evaluate('navigator.clipboard.readText()')) as string;
  const [, url = ''] = /^curl -s -H "Authorization: Bearer \$KEY" '([^']+)'$/.exec(curl) ?? [];
  expect((await stage.service.ask(url.replace(stage.service.url, ''))).status).toBe(200);
  expect(requests.some((each) => each.includes(KPIS))).toBe(true);
  await page.keyboard.press('Escape');
  await about.waitFor({ state: 'detached' });
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('About Bounce rate');
});
