import { Title } from '@mantine/core';
import { KPI_FIGURES } from '../../../analytics/answers/figures.ts';
import type { KpiComparison, KpiMetrics } from '../../../client/index.ts';
import type { Loaded } from '../../answers.ts';
import { Sparkline } from '../../chart/sparkline.tsx';
import { type Change, changeOfFigure } from '../changes.ts';
import { useAnalytics } from '../context.ts';
import type { Bucket } from '../view/buckets.ts';
import { useWords } from '../words.ts';
import { About } from './about.tsx';
import { ChangeMark } from './change-mark.tsx';
import { Figures } from './panel.tsx';

type Kpi = keyof KpiMetrics<number>;

/** The key figures, each with its change and its course. */
export function Kpis({
  of,
  buckets,
}: {
  readonly of: Loaded<KpiComparison>;
  readonly buckets: readonly Bucket[];
}) {
  const { text } = useWords();
  return (
    <section aria-label={text.kpis} aria-busy={of.isLoading}>
      <Title order={2} className="unseen">
        {text.kpis}
      </Title>
      <Figures of={of}>
        {(answer) => (
          <ul className="tiles">
            {KPI_FIGURES.map((name) => (
              <Tile key={name} name={name} answer={answer} buckets={buckets} />
            ))}
          </ul>
        )}
      </Figures>
    </section>
  );
}

function Tile({
  name,
  answer,
  buckets,
}: {
  readonly name: Kpi;
  readonly answer: KpiComparison;
  readonly buckets: readonly Bucket[];
}) {
  const { text, figure } = useWords();
  const { params, before, isRtl } = useAnalytics();
  const change = changeIn(answer, name);
  return (
    <li className="tile" data-figure={name}>
      <div className="tile-head">
        <span className="tile-name">{text.labels[name]}</span>
        <About name={text.labels[name]} call={{ question: 'getOverviewKpis', params, figures: [name] }} />
      </div>
      <div className="tile-value">{figure(name, answer.current[name])}</div>
      <div className="tile-change">
        <ChangeMark figure={name} change={change} />
        {before !== null && (
          <span className="tile-before">
            {text.before}: <b>{figure(name, answer.previous[name])}</b>
          </span>
        )}
      </div>
      <Sparkline values={buckets.map(({ figures }) => figures?.[name] ?? null)} isRtl={isRtl} />
    </li>
  );
}

function changeIn({ current, previous, changePercent }: KpiComparison, name: Kpi): Change {
  const change = changeOfFigure(name, {
    values: [current[name], previous[name]],
    sessions: [current.sessions, previous.sessions],
  });
  const percent = changePercent[name];
  // The answer's own percentage is rounded exactly.
  return change.kind === 'percent' && percent !== null ? { kind: 'percent', percent } : change;
}
