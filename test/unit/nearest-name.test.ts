import { expect, test } from 'vitest';
import { nearestName } from '../../src/domain/nearest-name.ts';

const NAMES = ['accounts', 'maxRetries', 'LOG_LEVEL'];

test.each([
  ['acounts', 'accounts', 1],
  ['accountss', 'accounts', 1],
  ['acxounts', 'accounts', 1],
  ['acconuts', 'accounts', 1],
  ['caconutss', 'accounts', 3],
  ['MAX_RETRIES', 'maxRetries', 0],
  ['LOGLEVLE', 'LOG_LEVEL', 1],
])('the nearest to %s is %s, with %i wrong letters', (given, name, wrong) => {
  expect(nearestName(given, NAMES)).toEqual({ name, wrong });
});

test('no name is near where none is known', () => {
  expect(nearestName('accounts', [])).toBeUndefined();
});
