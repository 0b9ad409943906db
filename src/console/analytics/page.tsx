import './analytics.css';
import { lazy, Suspense, useCallback, useEffect, useMemo } from 'react';
import type { KpiComparison } from '../../client/index.ts';
import { isNoAccess, type Loaded } from '../answers.ts';
import { useApps } from '../apps/apps.ts';
import { useSpeech } from '../i18n/use-text.ts';
import { useIsNarrowed } from '../link/context.ts';
import { go, usePath, useSearch } from '../shell/router.tsx';
import { LoadingState, NoAccessState } from '../states.tsx';
import { useNow } from './clock.ts';
import {
  type Analytics,
  AnalyticsProvider,
  type Period,
  useAnalytics,
  useEarlierFigures,
  useFigures,
} from './context.ts';
import { listOf } from './lists.ts';
import { type Live, useLiveOverview } from './live.ts';
import { Growth } from './panels/growth.tsx';
import { Head } from './panels/head.tsx';
import { Heatmaps } from './panels/heatmaps.tsx';
import { Kpis } from './panels/kpis.tsx';
import { ListGroup, ListPanel } from './panels/list-panel.tsx';
import { Locations } from './panels/locations.tsx';
import { More } from './panels/more.tsx';
import { NoVisits } from './panels/no-visits.tsx';
import { Now } from './panels/now.tsx';
import { Toolbar } from './panels/toolbar.tsx';
import { usePrint } from './print.ts';
import { momentsOf, seriesParams } from './series.ts';
import { ShortcutsProvider, useShortcutSwitch } from './shortcuts.ts';
import { periodAgainst } from './view/against.ts';
import { cutsOf, intervalOf } from './view/interval.ts';
import { keepZone, zoneOf } from './view/kept-zone.ts';
import { isLive, paramsOf, type Range, rangeOf, segmentParams } from './view/range.ts';
import { searchOf, type View, viewOf, zoneIn } from './view/view.ts';
import { useWords } from './words.ts';

const WholeList = lazy(() =>
  import('./whole/whole-list.tsx').then(({ WholeList }) => ({ default: WholeList })),
);

/** The figures of one app. The view is in the address, so it can be sent as a link. */
export function AnalyticsPage({ appId }: { readonly appId: string }) {
  const { direction } = useSpeech().language;
  const { view, change } = useView(appId);
  const now = useNow();
  const range = useMemo(() => rangeOf(view.choice, view.zone, now), [view.choice, view.zone, now]);
  const { segment } = view;
  const params = useMemo(
    () => ({ appId, ...paramsOf(range), ...segmentParams(segment) }),
    [appId, range, segment],
  );
  const against = useAgainst(appId, view, range, now);
  const live = useLiveOverview(isLive(range, now) ? params : null);
  const { version } = live;
  const oldest = useOldest(appId, version);
  const before = view.isCompared && hasData(against, oldest) ? against : null;
  const asked = useFigures('getExtendedOverview', params, version, { isAsked: !live.isStreamed });
  const overviewBefore = useEarlierFigures('getExtendedOverview', before?.params ?? null, version, {
    like: before?.like,
  });
  const { isWhole, print } = usePrint();
  const analytics: Analytics = {
    appId,
    appName: useApps().data?.find(({ id }) => id === appId)?.name,
    view,
    change,
    now,
    range,
    params,
    against,
    before,
    oldest,
    overview: live.isStreamed || (live.isOpen && asked.data === undefined) ? live.overview : asked,
    overviewBefore,
    version,
    isRtl: direction === 'rtl',
    isWhole,
  };
  return (
    <AnalyticsProvider value={analytics}>
      <Page live={live} print={print} />
    </AnalyticsProvider>
  );
}

/** The view that the address holds. The first address of a visit may hold no zone: it gets the one of last time. */
function useView(appId: string) {
  const path = usePath();
  const search = useSearch();
  const view = useMemo(() => viewOf(search, zoneOf(appId)), [search, appId]);
  const change = useCallback(
    (part: Partial<View>) => {
      if (part.zone !== undefined) keepZone(appId, part.zone);
      const next = searchOf({ ...viewOf(location.search, zoneOf(appId)), ...part });
      // The letters of a search are no steps of the history.
      go(`${path}${next}`, { replace: Object.keys(part).join() === 'find' });
    },
    [appId, path],
  );
  useEffect(() => {
    if (zoneIn(new URLSearchParams(search)) === null) go(`${path}${searchOf(view)}`, { replace: true });
  }, [path, search, view]);
  return { view, change };
}

/** The period that changes are against. */
function useAgainst(appId: string, view: View, range: Range, now: number): Period | null {
  return useMemo(() => {
    const period = periodAgainst(range, view, now);
    if (period === null) return null;
    const like = `${appId} ${period.from} ${range.from} ${range.to} ${view.segment}`;
    const params = { appId, ...paramsOf(period), ...segmentParams(view.segment) };
    return { range: period, params, like };
  }, [appId, view, range, now]);
}

/** When the first session of the app began. */
function useOldest(appId: string, version: number): number | null | undefined {
  const { data } = useFigures('getDataBounds', useIsNarrowed() ? null : { appId }, version);
  if (data === undefined) return undefined;
  return data.oldest === null ? null : Date.parse(data.oldest);
}

/** Whether the period can have data. Before the first data, nothing is zero. */
const hasData = (period: Period | null, oldest: number | null | undefined): boolean =>
  period === null || typeof oldest !== 'number' || oldest <= period.range.to;

const isEmpty = ({ data }: Loaded<KpiComparison>): boolean =>
  data !== undefined && data.current.sessions === 0 && data.current.pageviews === 0;

function Page({ live, print }: { readonly live: Live; readonly print: () => void }) {
  const { view, range, params, against, now, version } = useAnalytics();
  const { text } = useWords();
  const shortcuts = useShortcutSwitch();
  const kpis = useFigures('getOverviewKpis', params, version);
  const kpisBefore = useEarlierFigures('getOverviewKpis', against?.params ?? null, version, {
    like: against?.like,
  });
  const oldest = useAnalytics().oldest ?? 0;
  const interval = intervalOf(range, view.interval);
  const series = useFigures('getSeries', seriesParams(params, interval, view.zone), version);
  const moments = series.data === undefined ? [] : momentsOf(series.data, now, oldest);
  const cuts = cutsOf(range, interval, view.zone, now);
  if (isNoAccess(kpis.error) || isNoAccess(live.overview.error)) return <NoAccessState isPage />;
  return (
    <ShortcutsProvider value={shortcuts[0]}>
      <div className="analytics">
        <Head live={live} print={print} shortcuts={shortcuts} />
        <Toolbar compared={kpisBefore.data?.current} />
        {isEmpty(kpis) ? (
          <NoVisits />
        ) : view.list !== null ? (
          <Suspense fallback={<LoadingState lines={16} />}>
            <WholeList />
          </Suspense>
        ) : (
          <>
            <Kpis of={kpis} before={kpisBefore.data?.current} moments={moments} isLastPartial={cuts.last} />
            <Growth series={series} interval={interval} cuts={cuts} kpis={kpis} />
            <div className="pair">
              <ListGroup group="pages" />
              <ListGroup group="sources" />
            </div>
            <Now isReachable={live.isReachable} />
            <Locations />
            <Heatmaps />
            <div className="pair">
              <ListGroup group="technology" />
              <ListGroup group="interaction" />
            </div>
            <ListPanel list={listOf('campaigns')} title={text.groups.campaigns} />
            <More />
          </>
        )}
      </div>
    </ShortcutsProvider>
  );
}
