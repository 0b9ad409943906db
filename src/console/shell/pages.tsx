import { Button } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { isLoadFailure, loadAnewWhenBack } from '../again.ts';
import { beginAnalytics } from '../analytics/begin.ts';
import { useText } from '../i18n/use-text.ts';
import { EmptyState, LoadingState } from '../states.tsx';
import { ErrorBoundary } from './boundary.tsx';
import { Link, usePath } from './router.tsx';

const loadAnalytics = () =>
  import('../analytics/page.tsx').then(({ AnalyticsPage }) => ({ default: AnalyticsPage }));
const AnalyticsPage = lazy(loadAnalytics);
const AppsPage = lazy(() => import('../apps/page.tsx').then(({ AppsPage }) => ({ default: AppsPage })));
const KeysPage = lazy(() => import('../keys/page.tsx').then(({ KeysPage }) => ({ default: KeysPage })));
const UsagePage = lazy(() => import('../usage/page.tsx').then(({ UsagePage }) => ({ default: UsagePage })));
const SettingsPage = lazy(() =>
  import('../apps/settings.tsx').then(({ SettingsPage }) => ({ default: SettingsPage })),
);
const LinkPage = lazy(() => import('../link/page.tsx').then(({ LinkPage }) => ({ default: LinkPage })));
const MembersPage = lazy(() =>
  import('../members/page.tsx').then(({ MembersPage }) => ({ default: MembersPage })),
);
const AuditPage = lazy(() => import('../audit/page.tsx').then(({ AuditPage }) => ({ default: AuditPage })));

const ANALYTICS = /^\/dashboard\/apps\/([0-9a-f-]{36})$/;

/** The pages by path; `:appId` is given to the page. */
const PAGES: readonly (readonly [RegExp, (appId: string) => ReactNode])[] = [
  [/^\/dashboard$/, () => <AppsPage />],
  [/^\/dashboard\/apps$/, () => <AppsPage />],
  [ANALYTICS, (appId) => <AnalyticsPage key={appId} appId={appId} />],
  [/^\/dashboard\/apps\/([0-9a-f-]{36})\/settings$/, (appId) => <SettingsPage key={appId} appId={appId} />],
  [/^\/dashboard\/api-keys$/, () => <KeysPage />],
  [/^\/dashboard\/usage$/, () => <UsagePage />],
  [/^\/dashboard\/members$/, () => <MembersPage />],
  [/^\/dashboard\/audit$/, () => <AuditPage />],
];

/**
 * Begins to load the page of an app, if the address is one: its scripts and its first answers. If that fails, the page
 * tries again and shows why.
 */
export function beginPage(): void {
  const appId = ANALYTICS.exec(location.pathname)?.[1];
  if (appId === undefined) return;
  loadAnalytics().catch(() => undefined);
  beginAnalytics(appId);
}

/** The page of the present address. */
export function Pages() {
  const path = usePath();
  return <Loadable path={path}>{pageAt(path)}</Loadable>;
}

/** The page of a window that shows a link. */
export const LinkWindow = () => (
  <Loadable path={usePath()}>
    <LinkPage />
  </Loadable>
);

function Loadable({ path, children }: { readonly path: string; readonly children: ReactNode }) {
  return (
    <ErrorBoundary resetKey={path} fallback={(error) => (isLoadFailure(error) ? <NotLoaded /> : <Broken />)}>
      <Suspense fallback={<LoadingState />}>{children}</Suspense>
    </ErrorBoundary>
  );
}

function pageAt(path: string): ReactNode {
  for (const [pattern, show] of PAGES) {
    const found = pattern.exec(path);
    if (found !== null) return show(found[1] ?? '');
  }
  return <NotFound />;
}

function NotFound() {
  const { shell } = useText();
  return (
    <EmptyState isPage title={shell.notFound} action={<Link to="/dashboard">{shell.toApps}</Link>}>
      {shell.notFoundText}
    </EmptyState>
  );
}

/** A part of the page did not come. It is loaded by itself when the service is back. */
function NotLoaded() {
  const { states } = useText();
  useEffect(loadAnewWhenBack, []);
  return (
    <EmptyState
      isPage
      title={states.failed}
      action={<Button onClick={() => location.reload()}>{states.retry}</Button>}
    >
      {states.notLoaded}
    </EmptyState>
  );
}

function Broken() {
  const { states } = useText();
  return (
    <EmptyState
      isPage
      title={states.broken}
      action={<Button onClick={() => location.reload()}>{states.reload}</Button>}
    >
      {states.brokenText}
    </EmptyState>
  );
}
