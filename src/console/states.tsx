import { Button, Skeleton, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAgain } from './again.ts';
import type { Loaded } from './answers.ts';
import { isNoAccess } from './answers.ts';
import { ApiError } from './api.ts';
import { useText } from './i18n/use-text.ts';
import { useWindowTitle } from './parts/window-title.ts';
import { Link } from './shell/router.tsx';

/** A page or panel without anything to show: says why, and what to do. */
export function EmptyState({
  title,
  children,
  action,
  isPage = false,
}: {
  readonly title: string;
  /** True if there is nothing else on the page. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="state">
      {isPage && <WindowTitle title={title} />}
      <Title order={isPage ? 1 : 2} size="h4">
        {title}
      </Title>
      <Text c="dimmed" component="div">
        {children}
      </Text>
      {action}
    </div>
  );
}

const WindowTitle = ({ title }: { readonly title: string }): null => {
  useWindowTitle(title);
  return null;
};

/** Grey bars in the place of the coming data. */
export function LoadingState({ lines = 4 }: { readonly lines?: number }) {
  const { states } = useText();
  return (
    <div className="loading" role="status">
      <span className="unseen">{states.loading}</span>
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike.
        <Skeleton key={i} height={16} radius="sm" />
      ))}
    </div>
  );
}

/** The failure in the service's own words, and a button to try again. */
export function ErrorState({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { states } = useText();
  const reason = useReason();
  useAgain(error, retry);
  if (isNoAccess(error)) return <NoAccessState />;
  return (
    <div className="state" role="alert">
      <Title order={2} size="h4">
        {states.failed}
      </Title>
      <Text c="dimmed">{reason(error)}</Text>
      {error instanceof ApiError && error.requestId !== null && (
        <Text size="sm" c="dimmed">
          {states.requestId(error.requestId)}
        </Text>
      )}
      {retry !== undefined && (
        <Button variant="default" onClick={retry}>
          {states.retry}
        </Button>
      )}
    </div>
  );
}

export function NoAccessState({ isPage = false }: { readonly isPage?: boolean }) {
  const { states, shell } = useText();
  return (
    <EmptyState isPage={isPage} title={states.noAccess} action={<Link to="/dashboard">{shell.toApps}</Link>}>
      {states.noAccessText}
    </EmptyState>
  );
}

/** Words for an error. */
export function useReason(): (error: unknown) => string {
  const { states, problems, fieldProblems } = useText();
  return (error) => {
    if (!(error instanceof ApiError)) return states.unreachable;
    const own = error.code === null ? undefined : problems[error.code];
    if (own !== undefined) return own;
    const fields = error.errors.map(
      ({ field, message }) =>
        fieldProblems[message] ??
        fieldProblems[field] ??
        fieldProblems[field.replace(/\.\d+$/, '')] ??
        `${field}: ${message}`,
    );
    return fields.length > 0 ? fields.join(' ') : error.detail;
  };
}

/** Shows the present state: an error, grey bars, or `children` of the data. */
export function Shown<T>({
  of: { data, error, reload },
  lines,
  children,
}: {
  readonly of: Loaded<T>;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}) {
  if (data !== undefined) return children(data);
  if (error !== null) return <ErrorState error={error} retry={reload} />;
  return <LoadingState {...(lines === undefined ? {} : { lines })} />;
}
