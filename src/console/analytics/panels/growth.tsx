import { SegmentedControl } from '@mantine/core';
import type { KpiComparison } from '../../../client/index.ts';
import type { Loaded } from '../../answers.ts';
import { LineChart } from '../../chart/line-chart.tsx';
import { useBuckets } from '../buckets.ts';
import { useAnalytics, useFigures, useInView } from '../context.ts';
import { cutsOf, isByDay, type Moment, momentsOfBuckets, momentsOfDays } from '../growth-series.ts';
import type { Bucket } from '../view/buckets.ts';
import { csvOf } from '../view/csv.ts';
import { lengthOf } from '../view/range.ts';
import { GROWTH_METRICS, type GrowthMetric } from '../view/view.ts';
import { useWords } from '../words.ts';
import { Figures, Panel } from './panel.tsx';

const FIGURES = {
  sessions: 'daySessions',
  visitors: 'dayVisitors',
  pageviews: 'dayPageviews',
  clicks: 'dayClicks',
} as const;

/** Sessions, visitors, page views and clicks over time. */
export function Growth({
  buckets,
  kpis,
}: {
  readonly buckets: Loaded<readonly Bucket[]>;
  readonly kpis: Loaded<KpiComparison>;
}) {
  const { appId, range, before, params, now, version, view, change } = useAnalytics();
  const oldest = useAnalytics().oldest ?? 0;
  const { text } = useWords();
  const { ref, isInView } = useInView<HTMLDivElement>();
  const byDay = isByDay(range);
  const days = useFigures('listUserGrowth', byDay ? params : null, version);
  const isCompared = before !== null && isInView;
  const daysBefore = useFigures('listUserGrowth', isCompared && byDay ? before.params : null, version, {
    like: before?.like,
  });
  const partsBefore = useBuckets(
    appId,
    isCompared && !byDay ? { from: before.range.from, to: before.range.from + lengthOf(range) - 1 } : null,
    now,
    version,
    before?.range.to,
  );
  const current: Loaded<readonly Moment[]> = byDay
    ? mapped(days, (answer) => momentsOfDays(answer, now, oldest))
    : mapped(buckets, (answer) => momentsOfBuckets(answer, oldest));
  const previous: Loaded<readonly Moment[]> = byDay
    ? mapped(daysBefore, (answer) => momentsOfDays(answer, now, oldest))
    : mapped(partsBefore, (answer) => momentsOfBuckets(answer, oldest));
  const previousData = before === null ? undefined : previous.data;
  const cuts = cutsOf(range, now);
  const notes = byDay
    ? cuts.first
      ? text.growthCut
      : cuts.last
        ? text.growthOpen
        : text.growthDays
    : text.growthParts;
  return (
    <div ref={ref}>
      <Panel
        title={text.growth}
        note={notes}
        about={
          byDay
            ? { question: 'listUserGrowth', params, figures: [FIGURES[view.growth]] }
            : { question: 'getOverviewKpis', params, figures: [view.growth] }
        }
        csv={{ name: 'growth', text: () => csvOfMoments(current.data ?? [], previousData) }}
        controls={
          <SegmentedControl
            size="xs"
            aria-label={text.growthMetric}
            value={view.growth}
            onChange={(growth) => change({ growth: growth as GrowthMetric })}
            data={GROWTH_METRICS.map((value) => ({ value, label: text.labels[value] }))}
          />
        }
        table={() => <GrowthTable moments={current.data ?? []} previous={previousData} />}
        isBusy={current.isLoading}
      >
        <Figures of={current} lines={9}>
          {(moments) => (
            <GrowthChart
              cuts={byDay ? cuts : { first: false, last: range.to > now }}
              moments={moments}
              previous={previousData}
              total={kpis.data?.current[view.growth]}
            />
          )}
        </Figures>
      </Panel>
    </div>
  );
}

/** The same with its data as moments. */
const mapped = <T, U>(loaded: Loaded<T>, map: (data: T) => U): Loaded<U> => ({
  ...loaded,
  data: loaded.data === undefined ? undefined : map(loaded.data),
});

function useMomentName(): (moment: Moment) => string {
  const { day, minute } = useWords();
  const { view } = useAnalytics();
  return ({ at, kind }) => (kind === 'day' ? day(at) : minute(at, view.zone));
}

/** A first day that is partly in the range would look like a fall, so the picture begins with the next one. */
function GrowthChart({
  cuts,
  moments: all,
  previous: allBefore,
  total,
}: {
  readonly cuts: { readonly first: boolean; readonly last: boolean };
  readonly moments: readonly Moment[];
  readonly previous: readonly Moment[] | undefined;
  readonly total: number | undefined;
}) {
  const { view, isRtl } = useAnalytics();
  const { text, figure, format, clock } = useWords();
  const nameOf = useMomentName();
  const metric = view.growth;
  const moments = cuts.first ? all.slice(1) : all;
  const previous = cuts.first ? allBefore?.slice(1) : allBefore;
  const most = moments.reduce<Moment | undefined>(
    (best, moment) => ((moment.values?.[metric] ?? -1) > (best?.values?.[metric] ?? -1) ? moment : best),
    undefined,
  );
  const short = ({ at, kind }: Moment): string =>
    kind === 'day'
      ? format.dateWith(at, { day: 'numeric', month: 'short', timeZone: 'UTC' })
      : clock(at, view.zone);
  return (
    <LineChart
      label={text.growthLabel(
        text.labels[metric],
        total === undefined ? '' : figure(metric, total),
        figure(metric, most?.values?.[metric] ?? 0),
        most === undefined ? '' : nameOf(most),
      )}
      labels={moments.map((moment) => ({ short: short(moment), long: nameOf(moment) }))}
      current={{
        name: text.labels[metric],
        values: moments.map(({ values }) => values?.[metric] ?? null),
        isLastPartial: cuts.last,
      }}
      previous={
        previous === undefined
          ? null
          : { name: text.before, values: moments.map((_, i) => previous[i]?.values?.[metric] ?? null) }
      }
      format={(value) => figure(metric, value)}
      tick={format.compact}
      isRtl={isRtl}
    />
  );
}

function GrowthTable({
  moments,
  previous,
}: {
  readonly moments: readonly Moment[];
  readonly previous: readonly Moment[] | undefined;
}) {
  const { text, figure } = useWords();
  const nameOf = useMomentName();
  return (
    <table className="grid">
      <thead>
        <tr>
          <th scope="col">{moments[0]?.kind === 'part' ? text.time : text.date}</th>
          {GROWTH_METRICS.map((metric) => (
            <th scope="col" key={metric} className="number">
              {text.labels[metric]}
            </th>
          ))}
          {previous !== undefined &&
            GROWTH_METRICS.map((metric) => (
              <th scope="col" key={metric} className="number">
                {text.labels[metric]}, {text.before}
              </th>
            ))}
        </tr>
      </thead>
      <tbody>
        {moments.map((moment, i) => (
          <tr key={moment.at}>
            <th scope="row">{nameOf(moment)}</th>
            {[moment, ...(previous === undefined ? [] : [previous[i]])].flatMap((each, period) =>
              GROWTH_METRICS.map((metric) => {
                const value = each?.values?.[metric];
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the place is the period.
                  <td key={`${period} ${metric}`} className="number">
                    {value === undefined ? '–' : figure(metric, value)}
                  </td>
                );
              }),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function csvOfMoments(moments: readonly Moment[], previous: readonly Moment[] | undefined): string {
  const head = [
    'from',
    ...GROWTH_METRICS,
    ...(previous === undefined
      ? []
      : ['previous_from', ...GROWTH_METRICS.map((metric) => `previous_${metric}`)]),
  ];
  const cells = (moment: Moment | undefined) => [
    moment === undefined ? null : new Date(moment.at).toISOString(),
    ...GROWTH_METRICS.map((metric) => moment?.values?.[metric] ?? null),
  ];
  return csvOf(
    head,
    moments.map((moment, i) => [...cells(moment), ...(previous === undefined ? [] : cells(previous[i]))]),
  );
}
