import type { FigureName } from '../../../answers/figures.ts';
import type { ExtendedOverview } from '../../../client/index.ts';
import { csvOf } from '../view/csv.ts';

/** The figures of the overview that are no key figures. */
export const MORE: readonly (readonly [FigureName, (answer: ExtendedOverview) => number])[] = [
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

export const csvOfMore = (answer: ExtendedOverview, before: ExtendedOverview | undefined): string =>
  csvOf(
    ['figure', 'value', ...(before === undefined ? [] : ['previous'])],
    MORE.map(([name, of]) => [name, of(answer), ...(before === undefined ? [] : [of(before)])]),
  );
