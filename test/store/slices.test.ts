import { afterAll, beforeAll, expect, test } from 'vitest';
import { pointsIn } from '../../src/analytics/range/calendar.ts';
import { byStarts, sliceOf, sliceSql } from '../../src/analytics/range/grid.ts';
import { listOf, number, rowOf } from '../../src/clickhouse/row.ts';
import { join, sql } from '../../src/clickhouse/sql.ts';
import { INTERVALS } from '../../src/domain/interval.ts';
import { epochMs } from '../../src/domain/time.ts';
import { type TestStore, testStore } from '../support/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

/** No change of the clock, one, several, and so many that the starts are searched. */
const SPANS = [
  ['UTC', '2026-11-01T00:00:00Z', 20],
  ['Asia/Kathmandu', '2026-11-01T10:20:00Z', 20],
  ['Europe/Berlin', '2026-03-20T10:20:00Z', 20],
  ['Europe/Berlin', '2026-10-20T10:20:00Z', 5.1],
  ['Asia/Tehran', '2018-01-01T03:00:00Z', 1_500],
  ['Australia/Lord_Howe', '2020-03-01T03:00:00Z', 1_600],
  ['UTC', '1970-01-01T10:00:00Z', 1_500],
  ['Africa/Monrovia', '1971-12-20T00:00:00Z', 40],
  ['Pacific/Apia', '2011-12-20T00:00:00Z', 20],
] as const;

test.each(
  SPANS.flatMap(([zone, from, days]) =>
    INTERVALS.filter((interval) => interval !== 'hour' || days < 100).map(
      (interval) => [interval, zone, from, days] as const,
    ),
  ),
)(
  'the engine finds the slice of an instant as this process does: %s, %s, %s',
  async (interval, timezone, text, days) => {
    const from = epochMs(Date.parse(text));
    const range = { from, to: epochMs(from + days * DAY - 1) };
    const starts = pointsIn({ interval, timezone }, range).slice(0, -1);
    const grid = byStarts(range, starts);
    const instants = [
      ...starts.flatMap((start) => [start - 1, start, start + 1, start + HOUR - 1]),
      range.from,
      range.to,
    ].filter((at) => at >= range.from && at <= range.to);
    const [row] = await store.db.rows({
      name: 'slices',
      sql: sql`SELECT arrayMap(at -> ${sliceSql(grid, sql`at`)}, [${join(instants.map((at) => sql`${at}`))}]::Array(Int64))`,
      row: rowOf([listOf(number)]),
    });
    expect(row?.[0]).toEqual(instants.map((at) => sliceOf(grid, at)));
  },
);
