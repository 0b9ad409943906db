import { Button } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import { useText } from '../i18n/use-text.ts';
import { EmptyState, LoadingState } from '../states.tsx';
import { ErrorBoundary } from './boundary.tsx';
import { Link, usePath } from './router.tsx';

const AnalyticsPage = lazy(() =>
  import('../analytics/page.tsx').then(({ AnalyticsPage }) => ({ default: AnalyticsPage })),
);
const AppsPage = lazy(() => import('../apps/page.tsx').then(({ AppsPage }) => ({ default: AppsPage })));
const KeysPage = lazy(() => import('../keys/page.tsx').then(({ KeysPage }) => ({ default: KeysPage })));
const UsagePage = lazy(() => import('../usage/page.tsx').then(({ UsagePage }) => ({ default: UsagePage })));
const SettingsPage = lazy(() =>
  import('../apps/settings.tsx').then(({ SettingsPage }) => ({ default: SettingsPage })),
);
const AuditPage = lazy(() => import('../audit/page.tsx').then(({ AuditPage }) => ({ default: AuditPage })));

/** The pages by path; `:appId` is given to the page. */
const PAGES: readonly (readonly [RegExp, (appId: string) => ReactNode])[] = [
  [/^\/dashboard$/, () => <AppsPage />],
  [/^\/dashboard\/apps$/, () => <AppsPage />],
  [/^\/dashboard\/apps\/([0-9a-f-]{36})$/, (appId) => <AnalyticsPage key={appId} appId={appId} />],
  [/^\/dashboard\/apps\/([0-9a-f-]{36})\/settings$/, (appId) => <SettingsPage key={appId} appId={appId} />],
  [/^\/dashboard\/api-keys$/, () => <KeysPage />],
  [/^\/dashboard\/usage$/, () => <UsagePage />],
  [/^\/dashboard\/audit$/, () => <AuditPage />],
];

/** The page of the present address. */
export function Pages() {
  const path = usePath();
  return (
    <ErrorBoundary resetKey={path} fallback={<Broken />}>
      <Suspense fallback={<LoadingState />}>{pageAt(path)}</Suspense>
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
