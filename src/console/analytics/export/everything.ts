import { KPI_FIGURES } from '../../../answers/figures.ts';
import type { KpiMetrics } from '../../../client/index.ts';
import { client } from '../../api.ts';
import type { Analytics } from '../context.ts';
import { exportOf } from '../panels/export-list.ts';
import { csvOfMoments } from '../panels/growth-csv.ts';
import { csvOfHours } from '../panels/hours-csv.ts';
import { csvOfMore } from '../panels/more-csv.ts';
import { csvOfNow } from '../panels/now-csv.ts';
import { asCsv, type Csv, MARK, nameOfCsv } from '../panels/save.ts';
import { besides, momentsOf, seriesParams } from '../series.ts';
import { csvOf } from '../view/csv.ts';
import { intervalOf } from '../view/interval.ts';
import { segmentParams } from '../view/range.ts';
import { HOUR_METRICS } from '../view/view.ts';
import { allWhole } from '../whole/whole-lists.ts';
import { type ZipFile, zipOf } from './zip.ts';

/** The service answers several questions at a time; more would only wait there. */
const AT_ONCE = 3;

type Part = readonly [name: string, text: () => Promise<string | Csv>];
type Told = (done: number, all: number) => void;

/** Asks for everything that the page can show, whole, and packs it. Rejects if one answer fails: a part would look whole. */
export async function everything(analytics: Analytics, told: Told): Promise<Blob> {
  const parts = partsOf(analytics);
  const files: ZipFile[] = [];
  for (let i = 0; i < parts.length; i += AT_ONCE) {
    told(i, parts.length);
    const some = parts.slice(i, i + AT_ONCE).map(async ([name, text]) => {
      const csv = asCsv(await text());
      return { name: `${nameOfCsv(name, csv)}.csv`, text: MARK + csv.text };
    });
    files.push(...(await Promise.all(some)));
  }
  return zipOf(files, new Date());
}

function partsOf(analytics: Analytics): readonly Part[] {
  const { appId, view, params, before } = analytics;
  const earlier = before?.params ?? null;
  const fixed = { appId, ...segmentParams(view.segment) };
  return [
    ['key-figures', () => keyFigures(analytics)],
    [
      'figures',
      async () => {
        const [answer, previous] = await Promise.all([
          client.getExtendedOverview(params),
          earlier === null ? undefined : client.getExtendedOverview(earlier),
        ]);
        return csvOfMore(answer.data, previous?.data);
      },
    ],
    ['growth', () => growth(analytics)],
    ['now', async () => csvOfNow((await client.getRealtime(fixed)).data.minutes)],
    ...HOUR_METRICS.flatMap((metric): Part[] => [
      [
        `heatmap-${metric}`,
        async () => {
          const { days } = (await client.getTrafficHeatmap(fixed)).data;
          return csvOfHours(
            'date',
            days.map((day) => ({ key: day.date, values: day[metric] })),
          );
        },
      ],
      [
        `usual-week-${metric}`,
        async () => {
          const { days } = (await client.getAudienceActivity(fixed)).data;
          const rows = days.map((day) => ({ key: String(day.dayOfWeek), values: day[metric] }));
          return csvOfHours('day_of_week', rows);
        },
      ],
    ]),
    ...allWhole().map((list): Part => [list.id, () => exportOf(list, params, earlier)]),
  ];
}

async function keyFigures({ params, before }: Analytics): Promise<string> {
  const of = async (asked: typeof params): Promise<KpiMetrics<number>> =>
    (await client.getOverviewKpis(asked)).data.current;
  const current = await of(params);
  const previous = before === null ? null : await of(before.params);
  return csvOf(
    ['figure', 'value', ...(previous === null ? [] : ['previous'])],
    KPI_FIGURES.map((name) => [name, current[name], ...(previous === null ? [] : [previous[name]])]),
  );
}

async function growth({ params, before, range, view, now, oldest }: Analytics): Promise<string> {
  const { zone } = view;
  const interval = intervalOf(range, view.interval);
  const of = async (asked: typeof params) =>
    momentsOf((await client.getSeries(seriesParams(asked, interval, zone))).data, now, oldest ?? 0);
  const moments = await of(params);
  if (before === null) return csvOfMoments(moments, undefined);
  const other = { range: before.range, moments: await of(before.params) };
  return csvOfMoments(moments, besides({ range, moments }, other, { interval, zone, now }));
}
