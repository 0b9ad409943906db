import './link.css';
import { Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { AnalyticsPage } from '../analytics/page.tsx';
import { useLoaded } from '../answers.ts';
import { ApiError, askLink, onSignedOut } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { useWindowTitle } from '../parts/window-title.ts';
import { Preferences } from '../shell/preferences.tsx';
import { ErrorState, LoadingState } from '../states.tsx';
import { LinkProvider } from './context.ts';
import { OnlyThese } from './only-these.tsx';
import { OPENED } from './opened.ts';

/** The analytics of one app, for somebody who opened a link. */
export function LinkPage() {
  const { link: text } = useText();
  const [hasEnded, setHasEnded] = useState(OPENED?.token === '');
  const { data, error, reload } = useLoaded(hasEnded ? null : 'link', askLink);
  useEffect(() => onSignedOut(() => setHasEnded(true)), []);
  if (hasEnded || (error instanceof ApiError && error.status === 404)) return <Ended />;
  if (error !== null && data === undefined)
    return (
      <main className="link-page">
        <ErrorState error={error} retry={reload} />
      </main>
    );
  if (data === undefined) return <LoadingState />;
  return (
    <LinkProvider value={data}>
      <main className="link-page" id="content">
        {data.segment !== null && <OnlyThese segment={data.segment} />}
        <AnalyticsPage appId={data.appId} />
        {OPENED?.isFramed !== true && (
          <footer className="link-foot no-print">
            <Text c="dimmed">{text.readOnly}</Text>
            <Preferences />
          </footer>
        )}
      </main>
    </LinkProvider>
  );
}

function Ended() {
  const { link: text } = useText();
  useWindowTitle(text.ended);
  return (
    <main className="link-page">
      <div className="state">
        <Title order={1} size="h4">
          {text.ended}
        </Title>
        <Text c="dimmed">{text.endedText}</Text>
      </div>
    </main>
  );
}
