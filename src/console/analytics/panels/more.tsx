import { changeOfFigure } from '../changes.ts';
import { useAnalytics } from '../context.ts';
import { useWords } from '../words.ts';
import { ChangeMark } from './change-mark.tsx';
import { csvOfMore, MORE } from './more-csv.ts';
import { Figures, Panel } from './panel.tsx';

export function More() {
  const { overview, overviewBefore, before, params } = useAnalytics();
  const { text, figure } = useWords();
  const earlier = before === null ? undefined : overviewBefore.data;
  return (
    <Panel
      title={text.more}
      about={{ question: 'getExtendedOverview', params, figures: MORE.map(([name]) => name) }}
      csv={{
        name: 'figures',
        text: () => (overview.data === undefined ? '' : csvOfMore(overview.data, earlier)),
      }}
      isBusy={overview.isLoading}
    >
      <Figures of={overview}>
        {(answer) => (
          <dl className="facts">
            {MORE.map(([name, of]) => (
              <div key={name} data-figure={name}>
                <dt>{text.labels[name]}</dt>
                <dd>
                  <span className="fact-value">{figure(name, of(answer))}</span>
                  {earlier !== undefined && (
                    <span className="fact-before">
                      {figure(name, of(earlier))}{' '}
                      <ChangeMark
                        figure={name}
                        change={changeOfFigure(name, {
                          values: [of(answer), of(earlier)],
                          sessions: [answer.session.sessions, earlier.session.sessions],
                        })}
                      />
                    </span>
                  )}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Figures>
    </Panel>
  );
}
