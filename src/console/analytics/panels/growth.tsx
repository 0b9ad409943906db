import { SegmentedControl } from '@mantine/core';
import type { KpiComparison } from '../../../client/index.ts';
import type { Loaded } from '../../answers.ts';
import { LineChart } from '../../chart/line-chart.tsx';
import { useBuckets } from '../buckets.ts';
import { useAnalytics, useFigures, useInView } from '../context.ts';
import { isByDay, type Moment, momentsOfBuckets, momentsOfDays } from '../growth-series.ts';
import { type Bucket, bucketsOf } from '../view/buckets.ts';
import { csvOf } from '../view/csv.ts';
import { lengthOf, type Range } from '../view/range.ts';
import { cutsOf, unitOf, unitsOf } from '../view/units.ts';
import { GROWTH_METRICS, type GrowthMetric } from '../view/view.ts';
import { UTC } from '../view/zone.ts';
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
  const { range, before, params, now, view, change } = useAnalytics();
  const { text } = useWords();
  const { ref, isInView } = useInView<HTMLDivElement>();
  const { current, previous, unit } = useGrowth(buckets, isInView);
  const previousData = before === null ? undefined : previous.data;
  const cuts = unit === 'part' ? { first: false, last: range.to > now } : cutsOf(range, unit, view.zone, now);
  const isDaily = view.zone === UTC && unit === 'day';
  const note = useNote(unit, cuts);
  return (
    <div ref={ref}>
      <Panel
        title={text.growth}
        note={note}
        about={
          isDaily
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
              cuts={cuts}
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

/** The course of the range and of the other period, by one calendar: that of the zone. */
function useGrowth(parts: Loaded<readonly Bucket[]>, isInView: boolean) {
  const { appId, range, before, params, now, version, view } = useAnalytics();
  const oldest = useAnalytics().oldest ?? 0;
  const unit: Moment['kind'] = isByDay(range) ? unitOf(range, view.zone) : 'part';
  const isDaily = view.zone === UTC && unit === 'day';
  const divided = (of: Range): readonly Range[] =>
    unit === 'part' ? bucketsOf(of) : unitsOf(of, unit, view.zone);
  const days = useFigures('listUserGrowth', isDaily ? params : null, version);
  const units = useBuckets(appId, isDaily || unit === 'part' ? null : divided(range), now, version);
  const isCompared = before !== null && isInView;
  const daysBefore = useFigures('listUserGrowth', isDaily ? (before?.params ?? null) : null, version, {
    isAsked: isCompared,
    like: before?.like,
  });
  const whole =
    before === null ? null : { from: before.range.from, to: before.range.from + lengthOf(range) - 1 };
  const unitsBefore = useBuckets(
    appId,
    isCompared && !isDaily && whole !== null ? divided(whole) : null,
    now,
    version,
    before?.range.to,
  );
  const ofDays = (loaded: typeof days) => mapped(loaded, (data) => momentsOfDays(data, now, oldest));
  const ofUnits = (loaded: typeof units) => mapped(loaded, (data) => momentsOfBuckets(data, unit, oldest));
  const current = isDaily ? ofDays(days) : ofUnits(unit === 'part' ? parts : units);
  return { current, previous: isDaily ? ofDays(daysBefore) : ofUnits(unitsBefore), unit };
}

/** The same with its data as moments. */
const mapped = <T, U>(loaded: Loaded<T>, map: (data: T) => U): Loaded<U> => ({
  ...loaded,
  data: loaded.data === undefined ? undefined : map(loaded.data),
});

/** The calendar of the chart, and which of its units are not whole. */
function useNote(unit: Moment['kind'], cuts: { readonly first: boolean; readonly last: boolean }): string {
  const { view } = useAnalytics();
  const { text } = useWords();
  if (unit === 'part') return text.growthBy.part;
  return [
    text.growthBy[unit](text.range.zones[view.zone] ?? view.zone),
    ...(cuts.first ? [text.growthCut] : []),
    ...(cuts.last ? [text.growthOpen] : []),
  ].join(' ');
}

function useMomentName(): (moment: Moment) => string {
  const { day, minute, month } = useWords();
  const { view } = useAnalytics();
  return ({ at, kind }) => {
    if (kind === 'month') return month(at, view.zone);
    return kind === 'part' ? minute(at, view.zone) : day(at, view.zone);
  };
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
    kind !== 'part'
      ? format.dateWith(at, { day: 'numeric', month: 'short', timeZone: view.zone })
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
