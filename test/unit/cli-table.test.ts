import { expect, test } from 'vitest';
import { asText } from '../../src/cli/table.ts';

const KEYS = [
  {
    keyId: 'k1',
    name: 'CI',
    lastUsedAt: '2026-11-22T14:03:00.000Z',
    revokedAt: null,
    requests: 7,
  },
  { keyId: 'k22', name: 'شرکت', lastUsedAt: null, revokedAt: null, requests: 1200 },
];

test('a list is a table with a column for each field', () => {
  expect(asText(KEYS, 80)).toBe(
    [
      'Key id  Name  Last used at          Revoked at  Requests',
      'k1      CI    2026-11-22 14:03:00Z           -         7',
      'k22     شرکت  -                              -      1200',
      '',
    ].join('\n'),
  );
});

test('on a narrow terminal the items are one below the other', () => {
  expect(asText(KEYS, 40)).toBe(
    [
      'Key id        k1',
      'Name          CI',
      'Last used at  2026-11-22 14:03:00Z',
      'Revoked at    -',
      'Requests      7',
      '',
      'Key id        k22',
      'Name          شرکت',
      'Last used at  -',
      'Revoked at    -',
      'Requests      1200',
      '',
    ].join('\n'),
  );
});

test('a single thing is one line per field, with its lists below', () => {
  const apps = [{ appId: 'a', page: { sealedUntil: null, lagSeconds: 1.5 } }, { appId: 'b' }];
  expect(
    asText({ healthy: true, rejected: { bot: 2 }, applied: ['one', 'two'], refused: [], apps }, 80),
  ).toBe(
    [
      'Healthy       yes',
      'Rejected bot  2',
      'Applied       one, two',
      '',
      'Refused:',
      'None.',
      '',
      'Apps:',
      'App id  Page sealed until  Page lag seconds',
      'a                       -               1.5',
      'b                       -                 -',
      '',
    ].join('\n'),
  );
});

test('nothing is said so', () => {
  expect(asText([], 80)).toBe('None.\n');
});

test('wide characters keep the columns, and no name can move the cursor', () => {
  const items = [
    { name: '株式会社', plan: 'pro' },
    { name: 'a\u001b[2J\nb\u202ec', plan: 'free' },
    { name: 'e\u0301', plan: 'pro' },
  ];
  expect(asText(items, 80)).toBe(
    ['Name       Plan', '株式会社   pro', 'a [2J b c  free', 'e\u0301          pro', ''].join('\n'),
  );
});
