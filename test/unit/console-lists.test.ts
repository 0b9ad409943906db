import { describe, expect, test } from 'vitest';
import { curlOf } from '../../src/console/analytics/curl.ts';
import { compared, keyOf, listOf, mostRows, rowsOf } from '../../src/console/analytics/lists.ts';
import { TABS } from '../../src/console/analytics/view/view.ts';

describe('lists', () => {
  test('a row that is absent before was 0, unless the list before was cut', () => {
    const list = listOf('campaigns');
    const row = (source: string, sessions: number) => ({
      source,
      medium: null,
      campaign: null,
      term: null,
      content: null,
      sessions,
      visitors: 1,
    });
    const rows = rowsOf(list, [row('a', 5), row('b', 4)]);
    const before = rowsOf(list, [row('b', 7)]);
    expect(compared(rows, before, 100).map((each) => each.before)).toEqual([
      [0, 0],
      [7, 1],
    ]);
    expect(compared(rows, before, 1).map((each) => each.before)).toEqual([
      [null, null],
      [7, 1],
    ]);
    expect(new Set(rows.map(keyOf)).size).toBe(2);
    expect([mostRows(list, 500), mostRows(listOf('pages'), 500), mostRows(listOf('errors'), 500)]).toEqual([
      100, 500, 10,
    ]);
  });

  test('every tab is a list', () => {
    for (const id of Object.values(TABS).flat()) expect(listOf(id).id).toBe(id);
  });
});

test('the call of the API is a line to paste', () => {
  const params = {
    appId: '5f0c6a52-3f0e-4c39-9d7e-0a4b7f3f7a10',
    from: '2026-11-14T00:00:00.000Z',
    to: undefined,
  };
  expect(curlOf('https://a.example', 'listPageviews', params)).toBe(
    `curl -s -H "Authorization: Bearer $KEY" 'https://a.example/api/v1/sessions/pageviews?appId=5f0c6a52-3f0e-4c39-9d7e-0a4b7f3f7a10&from=2026-11-14T00:00:00.000Z'`,
  );
});
