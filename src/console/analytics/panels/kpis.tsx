import { Skeleton, Title } from '@mantine/core';
import { KPI_FIGURES } from '../../../answers/figures.ts';
import type { KpiComparison, KpiMetrics } from '../../../client/index.ts';
import type { Loaded } from '../../answers.ts';
import { Sparkline } from '../../chart/sparkline.tsx';
import { useText } from '../../i18n/use-text.ts';
import { changeOfFigure } from '../changes.ts';
import { useAnalytics } from '../context.ts';
import type { Moment } from '../series.ts';
import { useWords } from '../words.ts';
import { About } from './about.tsx';
import { ChangeMark, useLack } from './change-mark.tsx';
import { Failed } from './panel.tsx';

type Kpi = keyof KpiMetrics<number>;

interface KpisProps {
  readonly of: Loaded<KpiComparison>;
  /** The figures of the other period. */
  readonly before: KpiMetrics<number> | undefined;
  readonly moments: readonly Moment[];
  /** Whether the last of them is not over, or only partly in the range. */
  readonly isLastPartial: boolean;
}

/** The key figures, each with its change and its course. */
export function Kpis({ of, before, moments, isLastPartial }: KpisProps) {
  const { text } = useWords();
  const { states } = useText();
  return (
    <section aria-label={text.kpis} aria-busy={of.isLoading}>
      <Title order={2} className="unseen">
        {text.kpis}
      </Title>
      {of.error === null ? (
        <ul className="tiles">
          {KPI_FIGURES.map((name) => (
            <Tile
              key={name}
              name={name}
              current={of.data?.current}
              before={before}
              moments={moments}
              isLastPartial={isLastPartial}
            />
          ))}
        </ul>
      ) : (
        <Failed of={of} />
      )}
      {of.data === undefined && (
        <span className="unseen" role="status">
          {states.loading}
        </span>
      )}
    </section>
  );
}

interface TileProps {
  readonly name: Kpi;
  readonly current: KpiMetrics<number> | undefined;
  readonly before: KpiMetrics<number> | undefined;
  readonly moments: readonly Moment[];
  readonly isLastPartial: boolean;
}

function Tile({ name, current, before, moments, isLastPartial }: TileProps) {
  const { text, figure } = useWords();
  const { params, isRtl } = useAnalytics();
  return (
    <li className="tile" data-figure={name}>
      <div className="tile-head">
        <span className="tile-name">{text.labels[name]}</span>
        <About name={text.labels[name]} call={{ question: 'getOverviewKpis', params, figures: [name] }} />
      </div>
      {current === undefined ? (
        <Skeleton className="tile-wait" />
      ) : (
        <div className="tile-value">
          <bdi>{figure(name, current[name])}</bdi>
        </div>
      )}
      <div className="tile-change">
        {current !== undefined && before !== undefined && (
          <Compared name={name} current={current} before={before} />
        )}
      </div>
      <Sparkline
        values={moments.map(({ values }) => values?.[name] ?? null)}
        isLastPartial={isLastPartial}
        isRtl={isRtl}
      />
    </li>
  );
}

function Compared({
  name,
  current,
  before,
}: {
  readonly name: Kpi;
  readonly current: KpiMetrics<number>;
  readonly before: KpiMetrics<number>;
}) {
  const { text, figure } = useWords();
  const { before: isBeside } = useAnalytics();
  const lack = useLack();
  const change = changeOfFigure(name, {
    values: [current[name], before[name]],
    sessions: [current.sessions, before.sessions],
  });
  return (
    <>
      {lack === null ? (
        <ChangeMark figure={name} change={change} />
      ) : (
        <span className="tile-before">{lack}</span>
      )}
      {isBeside !== null && (
        <span className="tile-before">
          {text.before}: <b>{figure(name, before[name])}</b>
        </span>
      )}
    </>
  );
}
