import { beginQuestion } from '../answers.ts';
import { isByDay } from './growth-series.ts';
import { zoneOf } from './view/kept-zone.ts';
import { paramsOf, rangeOf } from './view/range.ts';
import { viewOf } from './view/view.ts';
import { UTC } from './view/zone.ts';

/** Asks the first questions of an app's page, for the view in the address: the key figures, and the first chart. */
export function beginAnalytics(appId: string): void {
  const { choice, zone } = viewOf(location.search, zoneOf(appId));
  const range = rangeOf(choice, zone, Date.now());
  const params = { appId, ...paramsOf(range) };
  beginQuestion('getOverviewKpis', params);
  if (isByDay(range) && zone === UTC) beginQuestion('listUserGrowth', params);
}
