import type { FigureName } from '../../../answers/figures.ts';
import type { ExtendedOverview } from '../../../client/index.ts';
import { changeOfFigure } from '../changes.ts';
import { useAnalytics } from '../context.ts';
import { csvOf } from '../view/csv.ts';
import { useWords } from '../words.ts';
import { ChangeMark } from './change-mark.tsx';
import { Figures, Panel } from './panel.tsx';

/** The figures of the overview that are no key figures. */
const MORE: readonly (readonly [FigureName, (answer: ExtendedOverview) => number])[] = [
  ['newVisitors', ({ session }) => session.newVisitors],
  ['returningVisitors', ({ session }) => session.returningVisitors],
  ['bounces', ({ session }) => session.bounces],
  ['uniquePages', ({ page }) => page.uniquePages],
  ['averageTimeOnPageMs', ({ page }) => page.averageTimeOnPageMs],
  ['engagedMs', ({ interaction }) => interaction.engagedMs],
  ['clicksPerSession', ({ interaction }) => interaction.clicksPerSession],
  ['customEvents', ({ interaction }) => interaction.customEvents],
  ['sessionsWithErrors', ({ error }) => error.sessionsWithErrors],
  ['errorRate', ({ error }) => error.errorRate],
];

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
        text: () =>
          csvOf(
            ['figure', 'value', ...(earlier === undefined ? [] : ['previous'])],
            overview.data === undefined
              ? []
              : MORE.map(([name, of]) => [
                  name,
                  of(overview.data as ExtendedOverview),
                  ...(earlier === undefined ? [] : [of(earlier)]),
                ]),
          ),
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
