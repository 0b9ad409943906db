import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { parseSegment, type Segment } from '../../src/domain/segment.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { onEachBackend } from '../support/backends.ts';
import { expireBefore } from '../support/retention.ts';
import { ingestionOn, NOW, newApp, REQUEST } from './ingestion-support.ts';

/* Segments whose answers can be told by hand: unsealed, sealed, with late events, and behind the horizon. */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const FIRST = Date.UTC(2026, 10, 10);
const TEN = 600 * MINUTE;
const RANGE = { from: epochMs(FIRST), to: epochMs(FIRST + 2 * DAY - 1) };

/** An event: minutes after the start of its session, and a path, or a type with its label. */
type Sent =
  | readonly [minutes: number, path: string]
  | readonly [minutes: number, type: string, label?: string];

const eventOf = (startedAt: number, [minutes, type, label]: Sent): object => {
  const timestamp = new Date(startedAt + minutes * MINUTE).toISOString();
  if (type.startsWith('/')) return { type: 'pageview', timestamp, path: type };
  const named = { click: 'target', error: 'message', custom: 'name' }[type] ?? '';
  return { type, timestamp, path: '/', ...(label === undefined ? {} : { [named]: label }) };
};

const visit = (
  id: string,
  visitorId: string,
  startedAt: number,
  events: readonly Sent[],
  context = {},
): object => ({
  id,
  visitorId,
  startedAt: new Date(startedAt).toISOString(),
  context,
  events: events.map((event) => eventOf(startedAt, event)),
});

const IN_IRAN = {
  location: { country: 'IR', region: "Te'hr\\an" },
  utm: { source: 'news', medium: 'email' },
};

const VISITS = [
  visit(
    's1',
    'v1',
    FIRST + TEN,
    [
      [0, '/a'],
      [1, '/b'],
      [2, 'click', '#buy'],
      [3, 'custom', 'signup'],
    ],
    IN_IRAN,
  ),
  visit(
    's2',
    'v1',
    FIRST + DAY + TEN,
    [
      [1, '/a'],
      [2, 'click'],
    ],
    IN_IRAN,
  ),
  // Goes on over midnight.
  visit('s3', 'v2', FIRST + DAY - 10 * MINUTE, [
    [0, '/a'],
    [20, '/c'],
    [21, 'error', 'boom'],
  ]),
  // The first sessions of a visitor, in the same ms.
  visit('s4', 'v3', FIRST + DAY + 2 * TEN, [[0, 'custom', 'signup']]),
  visit('s5', 'v3', FIRST + DAY + 2 * TEN, [[0, '/b']]),
];

/** It comes late: the session is another visitor's, and saw a page. */
const LATE = visit('s2', 'v9', FIRST + DAY + TEN, [[0, '/late']], IN_IRAN);

type Figures = readonly [sessions: number, visitors: number, pageviews: number];

const FIGURES: readonly (readonly [segment: string, now: Figures, late?: Figures])[] = [
  ['country==IR', [2, 1, 3], [2, 2, 4]],
  ['country!=IR', [3, 2, 3]],
  ['country==', [3, 2, 3]],
  ["region=^Te';region=$\\an", [2, 1, 3], [2, 2, 4]],
  ['source==news,country==', [5, 3, 6], [5, 4, 7]],
  ['medium=@mai;campaign==', [2, 1, 3], [2, 2, 4]],
  ['visitorType==new', [4, 3, 5], [5, 4, 7]],
  ['visitorType==returning', [1, 1, 1], [0, 0, 0]],
  ['visitorType!=new', [1, 1, 1], [0, 0, 0]],
  ['page==/a', [3, 2, 5], [3, 3, 6]],
  ['page!=/a', [2, 1, 1]],
  ['page=@late', [0, 0, 0], [1, 1, 2]],
  ['page==', [1, 1, 0]],
  ['page!=', [4, 3, 6], [4, 4, 7]],
  ['event==signup', [2, 2, 2]],
  ['target==#buy', [1, 1, 2]],
  ['target==', [4, 3, 4], [4, 3, 5]],
  ['error!=boom;page==/a', [2, 1, 3], [2, 2, 4]],
  ['entryPage==/a', [3, 2, 5], [2, 2, 4]],
  ["page=='%3B DROP TABLE events --,page=={x:String}", [0, 0, 0]],
];

const segmentOf = (text: string): Segment => {
  const segment = parseSegment(text);
  if ('problem' in segment) throw new Error(segment.problem);
  return segment;
};

onEachBackend((on) => {
  test('figures of segments, unsealed, sealed, with late events, and behind the horizon', {
    timeout: 0,
  }, async () => {
    const app = newApp();
    const analytics = steadyAnalytics({ db: on.db });
    const send = (sessions: readonly object[]) =>
      ingestionOn(on.db).accept(app, { batchId: randomUUID(), sessions }, REQUEST);
    const expectAll = async (when: string, isLate: boolean): Promise<void> => {
      for (const [text, now, late = now] of FIGURES) {
        const { current } = await analytics.kpis(app.id, RANGE, segmentOf(text));
        const { sessions, visitors, pageviews } = current;
        expect([sessions, visitors, pageviews], `${text}, ${when}`).toEqual(isLate ? late : now);
      }
    };
    await send(VISITS);
    await expectAll('unsealed', false);
    await seal({ db: on.db, only: [app.id] }, NOW);
    await expectAll('sealed', false);

    const days = await analytics.userGrowth(app.id, RANGE, segmentOf('page==/c'));
    expect(days.map(({ sessions, pageviews }) => [sessions, pageviews])).toEqual([
      [1, 1],
      [0, 1],
    ]);
    const overview = await analytics.overview(
      app.id,
      { ...RANGE, from: epochMs(FIRST + DAY) },
      segmentOf('page==/a'),
    );
    expect(overview.session).toMatchObject({
      sessions: 1,
      visitors: 1,
      newVisitors: 0,
      returningVisitors: 1,
    });
    expect(overview.page.topPages.map(({ path }) => path)).toEqual(['/a', '/c']);

    await send([LATE]);
    await expectAll('late', true);
    await seal({ db: on.db, only: [app.id] }, NOW, { repairAfterMs: 0 });
    await expectAll('repaired', true);

    await expireBefore(on.db, [app.id], FIRST + DAY);
    const ask = (text: string) => analytics.utmCampaigns(app.id, RANGE, segmentOf(text));
    expect(await ask('country==IR')).toMatchObject([{ source: 'news', sessions: 2, visitors: 2 }]);
    await expect(ask('page==/a')).rejects.toMatchObject({
      code: 'beyond_retention',
      nearest: { from: '2026-11-11T00:00:00.000Z', to: '2026-11-11T23:59:59.999Z' },
    });
    const kpis = analytics.kpis(app.id, RANGE, segmentOf('country==IR'));
    await expect(kpis).rejects.toMatchObject({
      code: 'beyond_retention',
      nearest: { from: '2026-11-11T12:00:00.000Z', to: '2026-11-11T23:59:59.999Z' },
    });
  });
});
