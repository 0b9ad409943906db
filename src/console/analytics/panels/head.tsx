import { Button, NativeSelect, Title } from '@mantine/core';
import { useApps } from '../../apps/apps.ts';
import { useText } from '../../i18n/use-text.ts';
import { useLink } from '../../link/context.ts';
import { useWindowTitle } from '../../parts/window-title.ts';
import { go, Link } from '../../shell/router.tsx';
import { useAnalytics } from '../context.ts';
import { type Live, useLiveMark } from '../live.ts';
import type { useShortcutSwitch } from '../shortcuts.ts';
import { searchOf } from '../view/view.ts';
import { useWords } from '../words.ts';
import { ExportAll } from './export-all.tsx';
import { ShareView } from './share-view.tsx';
import { Shortcuts } from './shortcuts.tsx';

interface HeadProps {
  readonly live: Live;
  readonly print: () => void;
  readonly shortcuts: ReturnType<typeof useShortcutSwitch>;
}

/** The app's name, the ways to other apps and to its settings, and whether the figures are live. */
export function Head({ live, print, shortcuts: [isOn, turn] }: HeadProps) {
  const { appId, appName } = useAnalytics();
  const { text } = useWords();
  const { apps } = useText();
  useWindowTitle(appName === undefined ? text.title : `${appName} · ${text.title}`);
  return (
    <header className="app-head">
      {useLink() === null && (
        <div className="app-ways">
          <Link to="/dashboard">{text.toApps}</Link>
          <Link to={`/dashboard/apps/${appId}/settings`}>{apps.settings}</Link>
        </div>
      )}
      <Title order={1} size="h2">
        <bdi>{appName ?? text.title}</bdi>
      </Title>
      <div className="app-tools">
        <OtherApps />
        <Button size="compact-sm" variant="default" className="no-print" onClick={print}>
          {text.print}
        </Button>
        <ExportAll />
        <ShareView />
        <Shortcuts isOn={isOn} turn={turn} />
        <LiveMark live={live} />
      </div>
    </header>
  );
}

/** Leads to another app, with the same view. */
function OtherApps() {
  const { appId, view } = useAnalytics();
  const { text } = useWords();
  const { data: apps = [] } = useApps();
  if (apps.length < 2) return null;
  return (
    <NativeSelect
      size="xs"
      className="app-others"
      aria-label={text.otherApp}
      value={appId}
      data={apps.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(event) =>
        go(`/dashboard/apps/${event.currentTarget.value}${searchOf({ ...view, find: '' })}`)
      }
    />
  );
}

/** Whether the figures are those that the service has now. */
function LiveMark({ live }: { readonly live: Live }) {
  const { text, clock } = useWords();
  const { view } = useAnalytics();
  const { state, at } = useLiveMark(live);
  const isOld = state === 'reconnecting' || state === 'offline';
  const long = text.liveTexts[state];
  return (
    <p className="live" data-state={state} title={long} role="status">
      <span className="live-dot" aria-hidden="true" />
      {text.liveStates[state]}
      {isOld && at !== null && <span>{text.figuresOf(clock(at, view.zone))}</span>}
      <span className="unseen">. {long}</span>
    </p>
  );
}
