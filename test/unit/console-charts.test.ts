import { expect, test } from 'vitest';
import { labelEvery } from '../../src/console/chart/labels.ts';
import { frameOf } from '../../src/console/chart/places.ts';

test('labels of an axis do not touch', () => {
  expect(labelEvery(7, 700, 64)).toBe(1);
  expect(labelEvery(28, 280, 64)).toBe(7);
  expect(labelEvery(5, 0, 64)).toBe(320);
});

test('the map shows the part of the world with most visits', () => {
  const place = (longitude: number, latitude: number, value: number) => ({
    key: '',
    longitude,
    latitude,
    value,
  });
  expect(frameOf([])).toBeNull();
  const frame = frameOf([place(51, 35, 90), place(52, 32, 5), place(-118, 34, 5)]);
  expect(frame).toEqual({ west: 44, east: 58, south: 30.5, north: 39.5 });
});
