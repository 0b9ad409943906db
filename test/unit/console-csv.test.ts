import { describe, expect, test } from 'vitest';
import { compared, listOf, rowsOf } from '../../src/console/analytics/lists.ts';
import { csvOfList } from '../../src/console/analytics/panels/list-csv.ts';
import { csvOf, daysOf, fileNameOf } from '../../src/console/analytics/view/csv.ts';
import { rangeOf } from '../../src/console/analytics/view/range.ts';
import { NOON } from './console-times.ts';

describe('CSV', () => {
  test('quotes texts, leaves null empty, and defuses formulas', () => {
    expect(
      csvOf(
        ['path', 'views'],
        [
          ['/a "b", c', 2],
          [null, 0.5],
          ['=HYPERLINK("x")', 1],
          ['-1', -1],
          ['@a', 0],
          ['+1', 0],
        ],
      ),
    ).toBe(
      [
        '"path","views"',
        '"/a ""b"", c",2',
        ',0.5',
        '"\'=HYPERLINK(""x"")",1',
        '"\'-1",-1',
        '"\'@a",0',
        '"\'+1",0',
        '',
      ].join('\r\n'),
    );
  });

  test('a file has the name of the app, and the days', () => {
    const days = daysOf(rangeOf('7d', 'Asia/Tehran', NOON), 'Asia/Tehran');
    expect(fileNameOf(' Web / shop: ../1', 'pages', days)).toBe('Web-shop-1_pages_2026-11-14_2026-11-20');
    expect(fileNameOf('فروشگاه من', 'pages', daysOf(rangeOf('today', 'UTC', NOON), 'UTC'))).toBe(
      'فروشگاه-من_pages_2026-11-20',
    );
    expect(fileNameOf('', 'growth', daysOf(rangeOf('24h', 'UTC', NOON), 'UTC'))).toBe(
      'growth_2026-11-19T1300_2026-11-20T1259',
    );
  });

  test('the columns have the names of the answers', () => {
    const head = (id: 'campaigns' | 'targets' | 'errors') => csvOfList(listOf(id), [], false).trim();
    expect(head('campaigns')).toMatch(/"content","sessions","visitors"$/);
    expect(head('targets')).toBe('"target","clicks"');
    expect(head('errors')).toBe('"message","count","sessions"');
  });

  test('a list of places has its coordinates; a comparison its values before', () => {
    const list = listOf('locations');
    const rows = rowsOf(list, [
      { country: 'IR', region: null, city: 'Tehran', latitude: 35.7, longitude: 51.4, count: 3 },
    ]);
    expect(csvOfList(list, rows, false)).toBe(
      '"city","region","country","latitude","longitude","sessions"\r\n"Tehran",,"IR",35.7,51.4,3\r\n',
    );
    const pages = listOf('pages');
    const listed = compared(rowsOf(pages, [{ path: '/', views: 2, uniqueSessions: 1 }]), [], 10);
    expect(csvOfList(pages, listed, true)).toBe(
      '"path","views","uniqueSessions","previous_views","previous_uniqueSessions"\r\n"/",2,1,0,0\r\n',
    );
  });
});
