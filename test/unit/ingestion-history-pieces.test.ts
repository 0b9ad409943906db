import { expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { piecesOf } from '../../src/ingestion/history-pieces.ts';
import type { ValidSession } from '../../src/ingestion/validate.ts';

const session = (year: number, month: number, index: number) =>
  ({ startedAt: epochMs(Date.UTC(year, month, 3)), index }) as ValidSession;
const monthOf = ({ startedAt }: ValidSession): string => new Date(startedAt).toISOString().slice(0, 7);

test('sessions of up to twelve months stay together, in their order', () => {
  const sessions = [5, 1, 11, 1].map((month, i) => session(2025, month, i));
  expect(piecesOf(sessions)).toEqual([sessions]);
  expect(piecesOf([])).toEqual([[]]);
});

test('sessions of thousands of months are cut into pieces of twelve, each session in one', () => {
  const sessions = Array.from({ length: 5_000 }, (_, i) => session(1970 + ((i * 7) % 330), (i * 5) % 12, i));
  const pieces = piecesOf(sessions);
  expect(
    pieces
      .flat()
      .map(({ index }) => index)
      .sort((a, b) => a - b),
  ).toEqual(sessions.map((_, i) => i));
  const months = pieces.map((piece) => new Set(piece.map(monthOf)));
  for (const own of months) expect(own.size).toBeLessThanOrEqual(12);
  // A month is in one piece.
  expect(months.reduce((sum, own) => sum + own.size, 0)).toBe(new Set(sessions.map(monthOf)).size);
});
