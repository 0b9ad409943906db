import { beginQuestion } from '../answers.ts';
import { seriesParams } from './series.ts';
import { intervalOf } from './view/interval.ts';
import { zoneOf } from './view/kept-zone.ts';
import { paramsOf, rangeOf, segmentParams } from './view/range.ts';
import { viewOf } from './view/view.ts';

/** Asks the first questions of an app's page, for the view in the address: the key figures, and the first chart. */
export function beginAnalytics(appId: string): void {
  const { choice, zone, interval, segment } = viewOf(location.search, zoneOf(appId));
  const range = rangeOf(choice, zone, Date.now());
  const params = { appId, ...paramsOf(range), ...segmentParams(segment) };
  beginQuestion('getOverviewKpis', params);
  beginQuestion('getSeries', seriesParams(params, intervalOf(range, interval), zone));
}
