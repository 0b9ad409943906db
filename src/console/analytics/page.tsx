import './analytics.css';
import { Title } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { isNoAccess, useLoaded } from '../answers.ts';
import { client } from '../api.ts';
import { useSpeech } from '../i18n/use-text.ts';
import { go, Link, usePath, useSearch } from '../shell/router.tsx';
import { NoAccessState } from '../states.tsx';
import { useBuckets } from './buckets.ts';
import { useNow } from './clock.ts';
import { type Analytics, AnalyticsProvider, useAnalytics, useFigures } from './context.ts';
import { listOf } from './lists.ts';
import { type LiveState, useLiveOverview } from './live.ts';
import { Growth } from './panels/growth.tsx';
import { Heatmaps } from './panels/heatmaps.tsx';
import { Kpis } from './panels/kpis.tsx';
import { ListGroup, ListPanel } from './panels/list-panel.tsx';
import { Locations } from './panels/locations.tsx';
import { More } from './panels/more.tsx';
import { NoVisits } from './panels/no-visits.tsx';
import { Toolbar } from './panels/toolbar.tsx';
import { isLive, paramsOf, periodBefore, rangeOf } from './view/range.ts';
import { searchOf, type View, viewOf } from './view/view.ts';
import { useWords } from './words.ts';

/** The figures of one app. The view is in the address, so it can be sent as a link. */
export function AnalyticsPage({ appId }: { readonly appId: string }) {
  const path = usePath();
  const search = useSearch();
  const { direction } = useSpeech().language;
  const view = useMemo(() => viewOf(search), [search]);
  const now = useNow();
  const change = useCallback(
    (part: Partial<View>) => {
      const next = searchOf({ ...viewOf(location.search), ...part });
      // Letters of a search and tabs are no steps of the history.
      go(`${path}${next}`, { replace: !('choice' in part) });
    },
    [path],
  );
  const range = useMemo(() => rangeOf(view.choice, view.zone, now), [view.choice, view.zone, now]);
  const params = useMemo(() => ({ appId, ...paramsOf(range) }), [appId, range]);
  const before = useMemo(() => {
    if (!view.isCompared) return null;
    const earlier = periodBefore(range);
    return { range: earlier, params: { appId, ...paramsOf(earlier) } };
  }, [appId, range, view.isCompared]);
  const live = useLiveOverview(isLive(range, now) ? params : null);
  const isStreamed = live.state === 'live' || live.state === 'connecting';
  const asked = useFigures('getExtendedOverview', isStreamed ? null : params, live.version);
  const overviewBefore = useFigures('getExtendedOverview', before?.params ?? null, live.version);
  const analytics: Analytics = {
    appId,
    appName: useAppName(appId),
    view,
    change,
    now,
    range,
    params,
    before,
    overview: isStreamed ? live.overview : asked,
    overviewBefore,
    version: live.version,
    isRtl: direction === 'rtl',
  };
  return (
    <AnalyticsProvider value={analytics}>
      <Page state={live.state} error={live.overview.error} />
    </AnalyticsProvider>
  );
}

function Page({ state, error }: { readonly state: LiveState; readonly error: unknown }) {
  const { appId, appName, range, params, now, version } = useAnalytics();
  const { text } = useWords();
  const kpis = useFigures('getOverviewKpis', params, version);
  const buckets = useBuckets(appId, kpis.data === undefined ? null : range, now, version);
  if (isNoAccess(kpis.error) || isNoAccess(error)) return <NoAccessState isPage />;
  const isEmpty = kpis.data?.current.sessions === 0 && kpis.data.current.pageviews === 0 && !kpis.isLoading;
  return (
    <div className="analytics">
      <header className="app-head">
        <div>
          <Link to="/dashboard">{text.toApps}</Link>
          <Title order={1} size="h2">
            <bdi>{appName ?? text.title}</bdi>
          </Title>
        </div>
        <LiveMark state={state} />
      </header>
      <Toolbar />
      {isEmpty ? (
        <NoVisits />
      ) : (
        <>
          <Kpis of={kpis} buckets={buckets.data ?? []} />
          <Growth buckets={buckets} kpis={kpis} />
          <div className="pair">
            <ListGroup group="pages" />
            <ListGroup group="sources" />
          </div>
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
  );
}

function useAppName(appId: string): string | undefined {
  const { data } = useLoaded('apps', async (signal) => (await client.listApps({}, { signal })).data);
  return data?.find(({ id }) => id === appId)?.name;
}

/** Whether the page waits for new events. */
function LiveMark({ state }: { readonly state: LiveState }) {
  const { text } = useWords();
  const words = {
    live: [text.live, text.liveText],
    connecting: [text.connecting, text.connectingText],
    resting: [text.resting, text.restingText],
    past: [text.past, text.pastText],
    lost: [text.lost, text.connectingText],
  } as const;
  const [short, long] = words[state];
  return (
    <p className="live" data-state={state} title={long}>
      <span className="live-dot" aria-hidden="true" />
      {short}
      <span className="unseen">. {long}</span>
    </p>
  );
}
