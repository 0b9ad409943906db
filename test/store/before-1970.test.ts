import { describe, test } from 'vitest';
import type { SeriesQuestion } from '../../src/domain/interval.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import type { Case, SentBatch } from '../support/generate.ts';
import { askAbout, expectAgreement, UNTIL_CACHED } from '../support/oracle/compare.ts';
import { oracleStore } from '../support/oracle/store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LAST = Date.UTC(2300, 0, 1) - 1;

const on = oracleStore();

const session = (id: string, visitorId: string, startedAt: number): SentBatch['deliveries'][number] => ({
  session: { id, visitorId, startedAt },
  context: { userAgent: '', utm: { source: 'newsletter' } },
  events: [
    { type: 'pageview', timestamp: startedAt, path: '/' },
    { type: 'click', timestamp: startedAt + MINUTE, path: '/', target: '#buy' },
    { type: 'pageview', timestamp: startedAt + HOUR, path: '/' },
  ],
});

const ranges = (...bounds: (readonly [number, number])[]): Case['probes'] =>
  bounds.map(([from, to]) => ({ range: { from, to }, limit: undefined }));

/** A range that is also asked for a series in Tehran's time. */
const inTehran = (
  interval: SeriesQuestion['interval'],
  from: number,
  to: number,
  segment: Segment | null = null,
): Case['probes'] => [
  {
    range: { from, to },
    limit: undefined,
    asked: {
      segment,
      series: { interval, timezone: 'Asia/Tehran' },
      by: 'channel',
      events: { type: 'click', property: null },
    },
  },
];

/** Sessions of three visitors that return: over decades, and within the first hours that can be stored. */
const decades: Case = {
  batches: [
    {
      app: 0,
      again: [],
      deliveries: [
        session('a', 'one', Date.UTC(1975, 5, 1)),
        session('b', 'one', Date.UTC(1988, 0, 31, 12, 34, 56, 789)),
        session('c', 'two', Date.UTC(2001, 8, 9, 1, 46, 39, 999)),
        session('d', 'two', Date.UTC(2001, 8, 9, 1, 46, 40)),
        session('e', 'one', Date.UTC(2026, 0, 1)),
      ],
    },
  ],
  parallel: 1,
  probes: ranges(
    [10 ** 12, Date.UTC(2034, 0, 1)],
    [10 ** 12, LAST],
    [Date.UTC(1980, 0, 1, 0, 20), Date.UTC(2026, 0, 1)],
    [0, LAST],
    [0, 0],
    [LAST, LAST],
  ),
  moments: [Date.UTC(1975, 5, 1), Date.UTC(1978, 5, 1), Date.UTC(2026, 0, 1), LAST],
};

const beginning: Case = {
  ...decades,
  batches: [
    {
      app: 0,
      again: [],
      deliveries: [
        session('a', 'one', 0),
        session('b', 'one', 1),
        session('c', 'one', 10 * MINUTE),
        session('d', 'two', 29 * MINUTE),
        session('e', 'one', 30 * MINUTE),
        session('f', 'two', 5 * HOUR),
        session('g', 'one', 2 * DAY),
      ],
    },
  ],
  probes: [
    ...ranges(
      [0, 0],
      [0, 1],
      [1, 1],
      [1, 2 * DAY],
      [HOUR, LAST],
      [10 * MINUTE, 31 * MINUTE],
      [5 * HOUR, DAY],
    ),
    ...inTehran('hour', 0, 2 * DAY),
    ...inTehran('hour', 0, 2 * DAY, [[{ dimension: 'visitorType', operator: '==', value: 'returning' }]]),
    ...inTehran('month', Date.UTC(1980, 0, 1), LAST),
  ],
  moments: [HOUR, 2 * DAY, 28 * DAY, 30 * DAY, 31 * DAY, 40 * DAY],
};

describe.each([
  ['decades', decades],
  ['the first hours', beginning],
])('periods and windows that begin before 1970, data of %s', (_, story) => {
  test('are counted exactly from raw rows', { timeout: 0 }, async () => {
    await expectAgreement(on.subject, story);
  });

  test('are counted exactly from facts, and from everything that is kept of them', {
    timeout: 0,
  }, async () => {
    await expectAgreement(on.subject, story, {
      beforeQuestions: async (subject) => {
        await seal({ db: on.store.db, only: subject.apps() }, epochMs(Date.UTC(2026, 6, 1)));
        for (let time = 0; time < UNTIL_CACHED; time++) await askAbout(subject, subject.apps(), story.probes);
        return subject;
      },
    });
  });
});
