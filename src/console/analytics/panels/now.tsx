import { useEffect, useState } from 'react';
import type { Realtime } from '../../../client/index.ts';
import { useVisible } from '../../answers.ts';
import { BarChart } from '../../chart/bar-chart.tsx';
import { useAnalytics, useFigures, useInView } from '../context.ts';
import { type List, type ListRow, listOf } from '../lists.ts';
import { segmentParams } from '../view/range.ts';
import { wallAt } from '../view/zone.ts';
import { useWords } from '../words.ts';
import { ListTable } from './list-table.tsx';
import { csvOfNow } from './now-csv.ts';
import { Figures, Panel } from './panel.tsx';

/** Without events, minutes pass, too. */
const AGAIN_MS = 10_000;
/** Figures that are older are not those of now. */
const OLD_MS = 25_000;
const CHART_HEIGHT = 150;
const FIRST_ROWS = 5;
const PAGES: List = listOf('pages');
const CHANNELS: List = { ...listOf('channels'), parts: ['channel'], figures: ['sessionsNowListed'] };

/** The visitors of the last 5 and 30 minutes, whatever the range is. */
export function Now({ isReachable }: { readonly isReachable: boolean }) {
  const { appId, view, version } = useAnalytics();
  const { text, clock } = useWords();
  const { ref, isInView } = useInView<HTMLDivElement>();
  const isVisible = useVisible();
  const isAsked = isInView && isVisible;
  const turn = useTurns(isAsked);
  const params = { appId, ...segmentParams(view.segment) };
  const now = useFigures('getRealtime', params, version + turn, { isAsked });
  const [at, setAt] = useState<number | null>(null);
  const [askedSince, setAskedSince] = useState(0);
  useEffect(() => {
    if (isAsked) setAskedSince(Date.now());
  }, [isAsked]);
  useEffect(() => {
    if (!now.isLoading && now.error === null) setAt(Date.now());
  }, [now.isLoading, now.error]);
  const isLate = at !== null && isAsked && Date.now() - Math.max(at, askedSince) > OLD_MS;
  const isOld = at !== null && (!isReachable || !navigator.onLine || isLate);
  return (
    <div ref={ref}>
      <Panel
        title={text.now.title}
        note={text.now.note}
        about={{
          question: 'getRealtime',
          params,
          figures: ['activeVisitors', 'visitorsNow', 'sessionsNow', 'minuteVisitors'],
        }}
        csv={{
          name: 'now',
          days: now.data === undefined ? '' : wallAt(Date.parse(now.data.to), view.zone).replace(':', ''),
          text: () => csvOfNow(now.data?.minutes ?? []),
        }}
        controls={
          isOld ? (
            <p className="now-old" role="status">
              {text.now.old(clock(at, view.zone))}
            </p>
          ) : undefined
        }
        table={() => <MinuteTable minutes={now.data?.minutes ?? []} />}
        isBusy={now.isLoading}
      >
        <Figures of={now} lines={7}>
          {(answer) => <Shown now={answer} isOld={isOld} />}
        </Figures>
      </Panel>
    </div>
  );
}

/** A number that grows every few seconds while it is wanted. */
function useTurns(isWanted: boolean): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!isWanted) return;
    const timer = setInterval(() => setTurn((before) => before + 1), AGAIN_MS);
    return () => clearInterval(timer);
  }, [isWanted]);
  return turn;
}

const pagesOf = ({ pages }: Realtime): readonly ListRow[] =>
  pages.map(({ path, views, uniqueSessions }) => ({ names: [path], values: [views, uniqueSessions] }));
const channelsOf = ({ channels }: Realtime): readonly ListRow[] =>
  channels.map(({ name, sessions }) => ({ names: [name], values: [sessions] }));

function Shown({ now, isOld }: { readonly now: Realtime; readonly isOld: boolean }) {
  const { text, figure } = useWords();
  return (
    <div className="now" data-old={isOld}>
      <div className="now-figures">
        <dl>
          <div data-figure="activeVisitors">
            <dt>{text.now.five}</dt>
            <dd>{figure('activeVisitors', now.activeVisitors)}</dd>
          </div>
          <div data-figure="visitorsNow">
            <dt>{text.now.thirty}</dt>
            <dd>{figure('visitorsNow', now.visitors)}</dd>
          </div>
        </dl>
        <Minutes minutes={now.minutes} total={now.visitors} />
      </div>
      {now.sessions === 0 ? (
        <p className="nothing now-nobody">{text.now.nobody}</p>
      ) : (
        <>
          <NowList list={PAGES} rows={pagesOf(now)} label={text.lists.pages} />
          <NowList list={CHANNELS} rows={channelsOf(now)} label={text.lists.channels} />
        </>
      )}
    </div>
  );
}

interface NowListProps {
  readonly list: List;
  readonly rows: readonly ListRow[];
  readonly label: string;
}

/** A list and the button for more of its rows, in one place of the panel. */
function NowList({ list, rows, label }: NowListProps) {
  const { text } = useWords();
  return (
    <div>
      <ListTable
        list={list}
        rows={rows}
        isCompared={false}
        isFiltered={false}
        label={`${text.now.title}: ${label}`}
        first={FIRST_ROWS}
      />
    </div>
  );
}

function Minutes({ minutes, total }: { readonly minutes: Realtime['minutes']; readonly total: number }) {
  const { text, figure, clock } = useWords();
  const { view, isRtl } = useAnalytics();
  return (
    <BarChart
      label={text.now.chart(figure('visitorsNow', total))}
      labels={minutes.map(({ start }) => {
        const minute = clock(Date.parse(start), view.zone);
        return { short: minute, long: minute };
      })}
      parts={[
        {
          name: text.labels.minuteVisitors,
          colour: 'first',
          values: minutes.map(({ visitors }) => visitors),
        },
      ]}
      format={(value) => figure('minuteVisitors', value)}
      isRtl={isRtl}
      height={CHART_HEIGHT}
    />
  );
}

function MinuteTable({ minutes }: { readonly minutes: Realtime['minutes'] }) {
  const { text, figure, clock } = useWords();
  const { view } = useAnalytics();
  return (
    <table className="grid">
      <thead>
        <tr>
          <th scope="col">{text.time}</th>
          <th scope="col" className="number">
            {text.labels.minuteVisitors}
          </th>
          <th scope="col" className="number">
            {text.labels.minutePageviews}
          </th>
        </tr>
      </thead>
      <tbody>
        {minutes.toReversed().map(({ start, visitors, pageviews }) => (
          <tr key={start}>
            <th scope="row">{clock(Date.parse(start), view.zone)}</th>
            <td className="number">{figure('minuteVisitors', visitors)}</td>
            <td className="number">{figure('minutePageviews', pageviews)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
