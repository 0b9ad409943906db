import { SegmentedControl } from '@mantine/core';
import type { KpiComparison, Series } from '../../../client/index.ts';
import type { Loaded } from '../../answers.ts';
import { LineChart } from '../../chart/line-chart.tsx';
import { useAnalytics, useEarlierFigures, useInView } from '../context.ts';
import { besides, type Moment, momentsOf, seriesParams } from '../series.ts';
import { type Interval, intervalsOf } from '../view/interval.ts';
import { GROWTH_METRICS, type GrowthMetric } from '../view/view.ts';
import { useWords } from '../words.ts';
import { csvOfMoments } from './growth-csv.ts';
import { Figures, Panel } from './panel.tsx';

const FIGURES = {
  sessions: 'pointSessions',
  visitors: 'pointVisitors',
  pageviews: 'pointPageviews',
  clicks: 'pointClicks',
} as const;

interface Cuts {
  readonly first: boolean;
  readonly last: boolean;
}

interface GrowthProps {
  readonly series: Loaded<Series>;
  readonly interval: Interval;
  readonly cuts: Cuts;
  readonly kpis: Loaded<KpiComparison>;
}

/** Sessions, visitors, page views and clicks over time, by the clock of the zone. */
export function Growth({ series, interval, cuts, kpis }: GrowthProps) {
  const { before, params, range, now, version, view } = useAnalytics();
  const oldest = useAnalytics().oldest ?? 0;
  const { text } = useWords();
  const { ref, isInView } = useInView<HTMLDivElement>();
  const paramsBefore = before === null ? null : seriesParams(before.params, interval, view.zone);
  const earlier = useEarlierFigures('getSeries', paramsBefore, version, {
    isAsked: isInView,
    like: before === null ? undefined : `${before.like} ${interval} ${view.zone}`,
  });
  const current: Loaded<readonly Moment[]> = {
    ...series,
    data: series.data === undefined ? undefined : momentsOf(series.data, now, oldest),
  };
  const momentsBefore =
    before === null || earlier.data === undefined ? undefined : momentsOf(earlier.data, now, oldest);
  const previous =
    before === null || momentsBefore === undefined || current.data === undefined
      ? undefined
      : besides(
          { range, moments: current.data },
          { range: before.range, moments: momentsBefore },
          { interval, zone: view.zone, now },
        );
  const isUnpaired =
    previous !== undefined && momentsBefore?.some((each) => !previous.includes(each)) === true;
  const note = [useNote(interval, cuts), ...(isUnpaired ? [text.growthUnpaired] : [])].join(' ');
  return (
    <div ref={ref}>
      <Panel
        title={text.growth}
        note={note}
        about={{
          question: 'getSeries',
          params: seriesParams(params, interval, view.zone),
          figures: [FIGURES[view.growth]],
        }}
        csv={{ name: 'growth', text: () => csvOfMoments(current.data ?? [], previous) }}
        controls={<GrowthControls interval={interval} />}
        table={() => <GrowthTable interval={interval} moments={current.data ?? []} previous={previous} />}
        isBusy={current.isLoading}
      >
        <Figures of={current} lines={9}>
          {(moments) => (
            <GrowthChart
              interval={interval}
              cuts={cuts}
              moments={moments}
              previous={previous}
              total={kpis.data?.current[view.growth]}
            />
          )}
        </Figures>
      </Panel>
    </div>
  );
}

/** The figure of the chart, and its unit. */
function GrowthControls({ interval }: { readonly interval: Interval }) {
  const { view, change, range } = useAnalytics();
  const { text } = useWords();
  const intervals = intervalsOf(range);
  return (
    <div className="growth-controls">
      <SegmentedControl
        size="xs"
        aria-label={text.growthMetric}
        value={view.growth}
        onChange={(growth) => change({ growth: growth as GrowthMetric })}
        data={GROWTH_METRICS.map((value) => ({ value, label: text.labels[value] }))}
      />
      {intervals.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={text.growthInterval}
          value={interval}
          onChange={(each) => change({ interval: each as Interval })}
          data={intervals.map((value) => ({ value, label: text.intervals[value] }))}
        />
      )}
    </div>
  );
}

/** The calendar of the chart, and which of its units are not whole. */
function useNote(interval: Interval, cuts: Cuts): string {
  const { view } = useAnalytics();
  const { text } = useWords();
  return [
    text.growthBy[interval](text.range.zones[view.zone] ?? view.zone),
    ...(cuts.first ? [text.growthCut] : []),
    ...(cuts.last ? [text.growthOpen] : []),
  ].join(' ');
}

function useMomentName(interval: Interval): (moment: Moment) => string {
  const { day, minute, month } = useWords();
  const { view } = useAnalytics();
  return ({ at }) => {
    if (interval === 'month') return month(at, view.zone);
    return interval === 'hour' ? minute(at, view.zone) : day(at, view.zone);
  };
}

/** A first day that is partly in the range would look like a fall, so the picture begins with the next one. */
function GrowthChart({
  interval,
  cuts,
  moments: all,
  previous: allBefore,
  total,
}: {
  readonly interval: Interval;
  readonly cuts: Cuts;
  readonly moments: readonly Moment[];
  readonly previous: readonly (Moment | undefined)[] | undefined;
  readonly total: number | undefined;
}) {
  const { view, isRtl } = useAnalytics();
  const { text, figure, format, clock } = useWords();
  const nameOf = useMomentName(interval);
  const metric = view.growth;
  const moments = cuts.first ? all.slice(1) : all;
  const previous = cuts.first ? allBefore?.slice(1) : allBefore;
  const most = moments.reduce<Moment | undefined>(
    (best, moment) => ((moment.values?.[metric] ?? -1) > (best?.values?.[metric] ?? -1) ? moment : best),
    undefined,
  );
  const short = ({ at }: Moment): string =>
    interval !== 'hour'
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
  interval,
  moments,
  previous,
}: {
  readonly interval: Interval;
  readonly moments: readonly Moment[];
  readonly previous: readonly (Moment | undefined)[] | undefined;
}) {
  const { text, figure } = useWords();
  const nameOf = useMomentName(interval);
  return (
    <table className="grid">
      <thead>
        <tr>
          <th scope="col">{interval === 'hour' ? text.time : text.date}</th>
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
