import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Line, linesOf } from '../../src/cli/import/lines.ts';
import { duration, line } from '../../src/cli/import/progress.ts';
import { Samples } from '../../src/cli/import/samples.ts';
import { mergeRuns, type SpoolRecord, SpoolWriter } from '../../src/cli/import/spool.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-import-parts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('lines', () => {
  const read = async (text: string | Buffer, size: number, longest?: number): Promise<Line[]> => {
    const bytes = Buffer.from(text as string);
    async function* chunks(): AsyncGenerator<Buffer> {
      for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
    }
    const lines: Line[] = [];
    for await (const batch of linesOf(chunks(), longest)) lines.push(...batch);
    return lines;
  };

  test.each([1, 2, 3, 7, 100])('are the same in chunks of %i bytes', async (size) => {
    expect(await read('\ufeffa\r\nسلام\n\n€uro\nlast', size)).toEqual([
      { text: 'a', number: 1 },
      { text: 'سلام', number: 2 },
      { text: '', number: 3 },
      { text: '€uro', number: 4 },
      { text: 'last', number: 5, isCut: true },
    ]);
  });

  test.each([1, 3, 1_000])(
    'may have NULs and byte order marks before them, in chunks of %i bytes',
    async (size) => {
      const text = `\0\0\0\ufeffa\0\n\0\ufeffb\n\0\0\n${'\0'.repeat(300)}c\n\0\0`;
      expect(await read(text, size, 10)).toEqual([
        { text: 'a\0', number: 1 },
        { text: 'b', number: 2 },
        { text: '', number: 3 },
        { text: 'c', number: 4 },
      ]);
    },
  );

  test('that are too long are cut, and keep their number', async () => {
    expect(await read(`${'x'.repeat(1_000)}\nnext\n`, 64, 100)).toEqual([
      { text: 'x'.repeat(100), number: 1 },
      { text: 'next', number: 2 },
    ]);
  });
});

describe('the sorter', () => {
  const sort = async (records: readonly SpoolRecord[], most: number): Promise<SpoolRecord[]> => {
    const place = mkdtempSync(join(folder, 'runs-'));
    const writer = new SpoolWriter(place, most);
    for (const record of records) await writer.add(record);
    const runs = await writer.end();
    expect(readdirSync(place).sort()).toEqual([...runs].sort());
    expect(runs.length).toBeLessThan(64);
    const sorted: SpoolRecord[] = [];
    for await (const batch of mergeRuns(place, runs)) sorted.push(...batch);
    return sorted;
  };

  test.each([10_000, 700, 30])(
    'sorts by time and key, and keeps the order of equals, with runs of %i',
    async (most) => {
      const records = Array.from({ length: 5_000 }, (_, i) => ({
        at: (i * 7_919) % 400,
        key: (i * 31) % 3,
        events: i % 5,
        input: i % 2,
        line: i,
        text: `{"n":"${i}\\t€"}`,
      }));
      const expected = records.toSorted((a, b) => a.at - b.at || a.key - b.key || a.line - b.line);
      expect(await sort(records, most)).toEqual(expected);
    },
  );

  test('takes nothing', async () => {
    expect(await sort([], 10)).toEqual([]);
  });

  test('takes the longest lines', async () => {
    const text = '€'.repeat(2_700_000);
    const record = { at: 1, key: 1, events: 1, input: 0, line: 1, text };
    expect(await sort([record, { ...record, at: 0 }], 10)).toEqual([{ ...record, at: 0 }, record]);
  });
});

describe('progress', () => {
  const begin = { done: 100, all: 1_100, lines: 10, events: 50 };

  test('says how much is done, how fast, and the time left', () => {
    const now = { done: 350, all: 1_100, lines: 1_234_510, events: 4_050 };
    expect(line('Storing', now, begin, 20_000)).toBe(
      'Storing: 31 %, 1,234,510 lines (61,725/s), 4,050 events (200/s), 1 min left',
    );
  });

  test('does not know how much standard input holds', () => {
    const now = { done: 350, all: null, lines: 2_010, events: null };
    expect(line('Reading', now, { ...begin, all: null, events: null }, 1_000)).toBe(
      'Reading: 2,010 lines (2,000/s)',
    );
  });

  test.each([
    [400, '1 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [3_900_000, '1 h 5 min'],
  ])('says %i ms as %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});

test('samples show the first lines, without control characters, and their number', () => {
  const said: string[] = [];
  const samples = new Samples('malformed', ['a.log'], (text) => said.push(text));
  for (let i = 1; i <= 7; i++) samples.add(0, i, `\u001b[31m${'x'.repeat(200)}`);
  samples.end();
  expect(said).toHaveLength(6);
  expect(said[0]).toBe(`malformed: a.log, line 1: \ufffd[31m${'x'.repeat(155)}…`);
  expect(said[5]).toBe('malformed: 7 in all, of which the first 5 are shown.');
});
