import { Text } from '@mantine/core';
import { useLive } from '../answers.ts';
import { useFormat, useText } from '../i18n/use-text.ts';
import { Copy } from '../parts/copy.tsx';
import { ErrorState } from '../states.tsx';
import type { App } from './apps.ts';

/** Shown instead of a secret that nobody can see any more. */
const NO_SECRET = 'app_secret_…';

/** The script tag for the pages of the app, and whether events of them arrive. */
export function SetUp({ app, secret }: { readonly app: App; readonly secret: string | null }) {
  const { setUp: text } = useText().apps;
  return (
    <>
      <Text>{secret === null ? text.secretGone : <strong>{text.secretOnce}</strong>}</Text>
      <Copy text={snippetOf(app.id, secret ?? NO_SECRET)} label={text.snippet} />
      <Light app={app} />
      <details>
        <summary>{text.help}</summary>
        <Text>{text.helpText}</Text>
      </details>
    </>
  );
}

const snippetOf = (appId: string, secret: string): string =>
  `<script
  defer
  src="${location.origin}/sdk.js"
  data-app-id="${appId}"
  data-secret-key="${secret}"
></script>`;

/** Turns green with the first event, without a reload. */
function Light({ app }: { readonly app: App }) {
  const { setUp: text } = useText().apps;
  const format = useFormat();
  const { data, error, reload } = useLive('getDataBounds', { appId: app.id });
  if (error !== null) return <ErrorState error={error} retry={reload} />;
  const newest = data?.newest ?? null;
  return (
    <div className="light" role="status" data-on={newest !== null}>
      <span className="light-dot" aria-hidden="true" />
      {newest === null ? text.waiting : text.arrived(format.relative(newest, Date.now()))}
    </div>
  );
}
