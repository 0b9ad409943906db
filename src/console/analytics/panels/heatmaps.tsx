import { SegmentedControl } from '@mantine/core';
import { useMemo } from 'react';
import type { AudienceActivity, TrafficHeatmap } from '../../../client/index.ts';
import { Heatmap, type HeatmapRow } from '../../chart/heatmap.tsx';
import { useAnalytics, useFigures, useInView } from '../context.ts';
import { segmentParams } from '../view/range.ts';
import { HOUR_METRICS, type HourMetric } from '../view/view.ts';
import { wallAt } from '../view/zone.ts';
import { useWords } from '../words.ts';
import { csvOfHours } from './hours-csv.ts';
import { Figures, Panel } from './panel.tsx';

const WEEK_FIGURES = {
  sessions: 'hourSessions',
  visitors: 'hourVisitors',
  pageviews: 'hourPageviews',
} as const;
const USUAL_FIGURES = {
  sessions: 'averageSessions',
  visitors: 'averageVisitors',
  pageviews: 'averagePageviews',
} as const;
const HOURS = Array.from({ length: 24 }, (_, i) => i);

/** A row of a heatmap with the start of an export's line. */
interface Row extends HeatmapRow {
  readonly key: string;
}

/** The hours of the last 7 days in Tehran. Their windows are fixed, so the period before is the usual week. */
export function Heatmaps() {
  const { appId, version, now, view, change, before } = useAnalytics();
  const { text } = useWords();
  const { ref, isInView } = useInView<HTMLDivElement>();
  const { segment } = view;
  const params = useMemo(() => ({ appId, ...segmentParams(segment) }), [appId, segment]);
  const week = useFigures('getTrafficHeatmap', params, version, { isAsked: isInView });
  const usual = useFigures('getAudienceActivity', params, version, { isAsked: isInView });
  const weekRows = useWeekRows(week.data);
  const usualRows = useUsualRows(usual.data);
  const metric = view.hours;
  const today = wallAt(now, 'Asia/Tehran').slice(0, 10);
  const weekDays = [weekRows?.at(0)?.key, weekRows?.at(-1)?.key].join('_');
  const controls = (
    <SegmentedControl
      size="xs"
      aria-label={text.hours}
      value={metric}
      onChange={(hours) => change({ hours: hours as HourMetric })}
      data={HOUR_METRICS.map((value) => ({ value, label: text.labels[value] }))}
    />
  );
  return (
    <div ref={ref} className="pair">
      <Panel
        title={text.heatmap}
        note={text.heatmapText}
        about={{ question: 'getTrafficHeatmap', params, figures: [WEEK_FIGURES[metric]] }}
        csv={{ name: 'heatmap', days: weekDays, text: () => csvOfHours('date', weekRows ?? []) }}
        controls={controls}
        table={() => (
          <HoursTable
            rows={weekRows ?? []}
            figure={WEEK_FIGURES[metric]}
            usual={before === null ? undefined : usual.data}
          />
        )}
        isBusy={week.isLoading}
      >
        <Figures of={{ ...week, data: weekRows }}>
          {(rows) => <HoursPicture rows={rows} figure={WEEK_FIGURES[metric]} usual={usual.data} />}
        </Figures>
      </Panel>
      <Panel
        title={text.activity}
        note={text.activityText}
        about={{ question: 'getAudienceActivity', params, figures: [USUAL_FIGURES[metric]] }}
        csv={{
          name: 'usual-week',
          days: today,
          text: () => csvOfHours('day_of_week', usualRows ?? []),
        }}
        controls={controls}
        table={() => <HoursTable rows={usualRows ?? []} figure={USUAL_FIGURES[metric]} usual={undefined} />}
        isBusy={usual.isLoading}
      >
        <Figures of={{ ...usual, data: usualRows }}>
          {(rows) => <HoursPicture rows={rows} figure={USUAL_FIGURES[metric]} usual={undefined} />}
        </Figures>
      </Panel>
    </div>
  );
}

function useWeekRows(answer: TrafficHeatmap | undefined): readonly Row[] | undefined {
  const { view, now } = useAnalytics();
  const { format } = useWords();
  const present = wallAt(now, 'Asia/Tehran');
  return answer?.days.map((day) => ({
    key: day.date,
    // Apart, because together some languages write them at length.
    name: [{ weekday: 'short' }, { day: 'numeric' }]
      .map((part) =>
        format.dateWith(Date.parse(day.date), { ...part, timeZone: 'UTC' } as Intl.DateTimeFormatOptions),
      )
      .join(' '),
    longName: format.dateWith(Date.parse(day.date), {
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      timeZone: 'UTC',
    }),
    // The answer has 0 for hours to come; a picture leaves them out.
    values: day[view.hours].map((value, hour) =>
      value === 0 && `${day.date}T${String(hour).padStart(2, '0')}:00` > present ? null : value,
    ),
  }));
}

/** A Monday. */
const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

function useUsualRows(answer: AudienceActivity | undefined): readonly Row[] | undefined {
  const { view } = useAnalytics();
  const { format } = useWords();
  const first = format.firstWeekday;
  // Weeks begin on the language's own day.
  const days = answer?.days.toSorted(
    (a, b) => ((a.dayOfWeek - first + 7) % 7) - ((b.dayOfWeek - first + 7) % 7),
  );
  return days?.map((day) => ({
    key: String(day.dayOfWeek),
    name: format.dateWith(MONDAY + (day.dayOfWeek - 1) * DAY_MS, { weekday: 'short', timeZone: 'UTC' }),
    longName: format.dateWith(MONDAY + (day.dayOfWeek - 1) * DAY_MS, { weekday: 'long', timeZone: 'UTC' }),
    values: day[view.hours],
  }));
}

type HourFigure = (typeof WEEK_FIGURES)[HourMetric] | (typeof USUAL_FIGURES)[HourMetric];

interface HoursProps {
  readonly rows: readonly Row[];
  readonly figure: HourFigure;
  /** The averages to compare with. */
  readonly usual: AudienceActivity | undefined;
}

function HoursPicture({ rows, figure: name, usual }: HoursProps) {
  const { view, isRtl } = useAnalytics();
  const { text, format, figure, hour, hourSpan } = useWords();
  const cells = rows.flatMap((row, i) => row.values.map((value, at) => ({ i, at, value: value ?? -1 })));
  const most = cells.reduce((best, cell) => (cell.value > best.value ? cell : best), {
    i: 0,
    at: 0,
    value: 0,
  });
  const describe = (row: number, at: number): string => {
    const value = rows[row]?.values[at];
    const shown = value === null || value === undefined ? '–' : `${figure(name, value)} ${text.labels[name]}`;
    const day = rows[row];
    const average = day === undefined ? undefined : usualAt(usual, day.key, at, view.hours);
    return average === undefined
      ? shown
      : `${shown}. ${text.usual(figure(USUAL_FIGURES[view.hours], average))}`;
  };
  return (
    <Heatmap
      label={text.hoursLabel(
        text.labels[name],
        figure(name, most.value),
        `${rows[most.i]?.longName ?? ''}, ${hourSpan(most.at)}`,
      )}
      rows={rows}
      hour={hour}
      span={hourSpan}
      scale={[format.number(0), figure(name, most.value)]}
      describe={describe}
      isRtl={isRtl}
    />
  );
}

/** The average of an hour on the weekday of a date. */
function usualAt(
  usual: AudienceActivity | undefined,
  date: string,
  hour: number,
  metric: HourMetric,
): number | undefined {
  const weekday = new Date(date).getUTCDay() || 7;
  return usual?.days.find(({ dayOfWeek }) => dayOfWeek === weekday)?.[metric][hour];
}

/** Every value; below it the usual one of the hour, if the person compares. */
function HoursTable({ rows, figure: name, usual }: HoursProps) {
  const { view } = useAnalytics();
  const { text, figure, hour } = useWords();
  return (
    <table className="grid">
      <thead>
        <tr>
          <th scope="col">{text.day}</th>
          {HOURS.map((each) => (
            <th scope="col" key={each} className="number">
              {hour(each)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">{row.name}</th>
            {HOURS.map((each) => {
              const value = row.values[each];
              const average = usualAt(usual, row.key, each, view.hours);
              return (
                <td key={each} className="number">
                  {value === null || value === undefined ? '–' : figure(name, value)}
                  {average !== undefined && (
                    <div className="hint">{text.usual(figure(USUAL_FIGURES[view.hours], average))}</div>
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
