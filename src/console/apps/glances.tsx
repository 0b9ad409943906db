import './glances.css';
import { Skeleton } from '@mantine/core';
import { createContext, useContext, useEffect, useRef, useState } from 'react';
import { useAgain } from '../again.ts';
import { changeOf, moodOf } from '../analytics/changes.ts';
import { useNow } from '../analytics/clock.ts';
import { useWords } from '../analytics/words.ts';
import { useLoaded, useVisible } from '../answers.ts';
import { Sparkline } from '../chart/sparkline.tsx';
import { useSpeech, useText } from '../i18n/use-text.ts';
import { useSeen } from '../parts/in-view.ts';
import { useReason } from '../states.tsx';
import type { App } from './apps.ts';
import { type Glance, glanceOf } from './glance.ts';

interface Turn {
  /** The minute in which the figures are asked for. */
  readonly now: number;
  /** Grows when the service is back. */
  readonly turn: number;
  readonly onFailed: (error: unknown) => void;
}

const TurnContext = createContext<Turn | null>(null);
export const TurnProvider = TurnContext.Provider;

/** The turn of a list: each minute, and when a service that was away is back. */
export function useTurn(): Turn {
  const now = useNow();
  const [turn, setTurn] = useState(0);
  const [failure, onFailed] = useState<unknown>(null);
  useAgain(failure, () => {
    onFailed(null);
    setTurn((before) => before + 1);
  });
  return { now, turn, onFailed };
}

/** The figures of an app, while its row is in view. Those of a minute that could not be asked for are not shown. */
export function AtAGlance({ app }: { readonly app: App }) {
  const { apps } = useText();
  const { glance: text } = apps;
  const reason = useReason();
  const { now = 0, turn = 0, onFailed } = useContext(TurnContext) ?? {};
  const { ref, isSeen } = useSeen<HTMLDivElement>();
  const isVisible = useVisible();
  const hasFailed = useRef(false);
  const { data, error } = useLoaded(`${app.id} ${now} ${turn}`, (signal) => glanceOf(app.id, now, signal), {
    isAsked: isSeen && isVisible,
    // After a failure, what was known before is too old.
    like: hasFailed.current ? undefined : app.id,
  });
  useEffect(() => {
    if (error !== null) onFailed?.(error);
    if (error !== null || data !== undefined) hasFailed.current = error !== null;
  }, [error, data, onFailed]);
  return (
    <div className="glance" ref={ref} data-app={app.id} aria-busy={data === undefined && error === null}>
      {error !== null ? (
        <span className="faint" title={reason(error)}>
          {text.unknown}
          <span className="unseen">. {reason(error)}</span>
        </span>
      ) : data === undefined ? (
        <Skeleton className="glance-wait" />
      ) : (
        <Figures of={data} />
      )}
    </div>
  );
}

function Figures({ of: { today, yesterday, days, active } }: { readonly of: Glance }) {
  const { apps } = useText();
  const { glance: text } = apps;
  const { format, change: written, text: words } = useWords();
  const { direction } = useSpeech().language;
  const change = changeOf(today, yesterday);
  return (
    <>
      <div className="glance-today">
        <b title={text.todayIs}>{format.number(today)}</b>
        <span
          className="glance-change"
          data-mood={moodOf('visitors', change)}
          title={text.against(format.number(yesterday))}
        >
          <bdi>{written(change)}</bdi>
          <span className="unseen">. {text.against(format.number(yesterday))}</span>
        </span>
        <span className="faint">{text.active(format.number(active))}</span>
      </div>
      <Sparkline values={days} isLastPartial isRtl={direction === 'rtl'} />
      <span className="unseen">
        {words.labels.visitors}: {days.map((each) => format.number(each)).join(' · ')}
      </span>
    </>
  );
}
