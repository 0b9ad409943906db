import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { pageOf } from '../../bench/report/page.ts';
import { readResult, writable, writeFile } from '../../bench/result/file.ts';
import { type Case, ResultSchema } from '../../bench/result/schema.ts';
import { Tally } from '../../bench/tally.ts';
import { resultOf, series } from '../support/bench-result.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-report-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function histogram(): string {
  const tally = new Tally(40_000);
  for (let i = 1; i <= 2000; i++) tally.note(i / 10, 200);
  return tally.outcome().histogram;
}

/** A case for every section of the page. */
const CASES = [
  ...['aligned', 'ragged', 'ending now', 'fixed'].flatMap((range) =>
    ['polled', 'first', 'live', 'storing', 'late', 'raw'].map((measure) =>
      series({
        name: `pageviews, ${range}`,
        measure,
        labels: { endpoint: 'pageviews', range },
        runs: [3, 4, 5, 6, 7],
        ofService: measure !== 'raw',
        exact: measure === 'raw' ? null : true,
      }),
    ),
  ),
  ...['1k events, 4 days', '10k events, 4 days'].map((size) =>
    series({ bench: 'scale', name: `pageviews, ${size}`, measure: 'first', runs: [1, 2, 3] }),
  ),
  series({
    bench: 'http',
    name: 'polling',
    measure: 'throughput',
    unit: 'requests/s',
    better: 'higher',
    runs: [900],
  }),
  series({
    bench: 'http',
    name: 'polling, at 50 %',
    measure: 'rate',
    unit: 'requests/s',
    better: null,
    runs: [450],
  }),
  series({ bench: 'http', name: 'polling, at 50 %', measure: 'latency', runs: [1], histogram: histogram() }),
  series({
    bench: 'ingest',
    name: 'import',
    measure: 'throughput',
    unit: 'events/s',
    better: 'higher',
    runs: [9e4],
  }),
  series({ bench: 'data', name: 'raw', measure: 'storage', unit: 'bytes', runs: [14_000] }),
  series({ bench: 'data', name: 'raw', measure: 'rows', unit: 'rows', better: null, runs: [1000] }),
  series({
    bench: 'soak',
    name: 'rssMiB',
    measure: 'by stretch',
    unit: 'MiB',
    better: null,
    runs: [500, 501],
  }),
  series({
    bench: 'usual ways',
    name: 'pages, rollups',
    measure: 'time',
    labels: { question: 'pages', way: 'hourly rollups' },
    ofService: false,
    runs: [5],
  }),
  series({
    bench: 'usual ways',
    name: 'pages, rollups',
    measure: 'error',
    unit: '%',
    labels: { question: 'pages', way: 'hourly rollups' },
    ofService: false,
    runs: [1.25],
  }),
];

describe('the file', () => {
  test('a result is read as it was written', () => {
    const file = writable('--json', join(folder, 'a.json'));
    expect(readdirSync(folder)).toEqual([]);
    writeFile(file, JSON.stringify(resultOf(CASES)));
    expect(readResult(file)).toEqual(resultOf(CASES));
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  test('a file that is replaced is one file, and leaves nothing beside it', () => {
    const file = join(folder, 'replaced.json');
    writeFileSync(file, 'a longer text than before');
    const { ino } = statSync(file);
    writeFile(writable('--json', file), 'short');
    expect(readFileSync(file, 'utf8')).toBe('short');
    expect(statSync(file).ino).not.toBe(ino);
    rmSync(file);
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  test.each(['a link', 'a link to a link', 'a link to nothing yet', 'a second name'])(
    '%s is written through, and stays',
    (kind) => {
      const own = mkdtempSync(join(folder, 'link-'));
      const [target, file] = [join(own, 'target.json'), join(own, 'given.json')];
      if (kind !== 'a link to nothing yet') writeFileSync(target, 'a longer text than before');
      if (kind === 'a second name') linkSync(target, file);
      else if (kind === 'a link to a link') {
        symlinkSync('target.json', join(own, 'between.json'));
        symlinkSync('between.json', file);
      } else symlinkSync('target.json', file);
      const before = lstatSync(file);
      for (const text of ['first', '2nd']) {
        writeFile(writable('--json', file), text, false);
        expect(readFileSync(target, 'utf8')).toBe(text);
      }
      expect(lstatSync(file)).toMatchObject({ ino: before.ino, mode: before.mode, nlink: before.nlink });
      rmSync(own, { recursive: true });
    },
  );

  test('a device is written through, and stays', () => {
    const file = writable('--json', '/dev/null');
    const before = statSync(file);
    writeFile(file, 'text', false);
    writeFile(file, 'text');
    expect(statSync(file)).toMatchObject({ ino: before.ino, mode: before.mode, rdev: before.rdev });
    // Not every system has it.
    if (existsSync('/dev/full'))
      expect(() => writeFile('/dev/full', 'text')).toThrow(/^\/dev\/full could not be written: ENOSPC/);
  });

  test('a pipe gets the last text alone, and stays', async () => {
    const file = join(folder, 'pipe');
    execFileSync('mkfifo', [file]);
    const reading = promisify(execFile)('cat', [file]);
    writeFile(writable('--html', file), 'not whole yet', false);
    writeFile(file, 'whole');
    expect((await reading).stdout).toBe('whole');
    expect(statSync(file).isFIFO()).toBe(true);
    rmSync(file);
  });

  test('what cannot be written is refused at once', () => {
    expect(() => writable('--json', folder)).toThrow(`--json: ${folder} is a folder.`);
    expect(() => writable('--json', join(folder, 'none', 'a.json'))).toThrow(/^--json: ENOENT/);
    const dangling = join(folder, 'dangling');
    symlinkSync('none/a.json', dangling);
    expect(() => writable('--json', dangling)).toThrow(/^--json: ENOENT/);
    rmSync(dangling);
  });

  test.each([
    ['[]', / is not a result of session-analytics bench\.$/],
    ['', /: Unexpected end of JSON input$/],
    [
      JSON.stringify({ ...resultOf(CASES), version: 2 }),
      / has version 2 of the format, and this command reads 1\.$/,
    ],
    [JSON.stringify({ ...resultOf(CASES), cases: [] }), / is damaged: /],
  ])('%.20s is refused with a reason', (text, reason) => {
    const file = join(folder, 'wrong.json');
    writeFileSync(file, text);
    expect(() => readResult(file)).toThrow(reason);
  });

  test('a case without runs is no case', () => {
    expect(ResultSchema.safeParse(resultOf([series({ runs: [] })])).success).toBe(false);
  });
});

describe('the page', () => {
  const page = pageOf(resultOf(CASES));

  test('it loads nothing and runs nothing', () => {
    const addresses = [...page.matchAll(/https?:[^"'\s)<]+/g)].map(([address]) => address);
    expect(new Set(addresses)).toEqual(
      new Set(['http://www.w3.org/2000/svg', 'http://www.w3.org/1999/xlink']),
    );
    expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|\bsrc=|\bhref=|url\(['"]?(?!#)/i);
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  test('it has a plot or a table for everything that was measured', () => {
    const titles = [...page.matchAll(/<h2>([^<]+)<\/h2>/g)].map(([, title]) => title);
    expect(titles).toEqual([
      'Questions that end now',
      'Questions about the past',
      'Spread of the runs',
      'Ratio to raw',
      'Time against data size',
      'Beside the usual ways',
      'Throughput',
      'Throughput against latency',
      'Distribution of latency',
      'Ingestion',
      'Storage by kind',
      'Steady load over time',
      'Environment',
      'All cases',
    ]);
    expect(page.match(/<svg /g)?.length).toBeGreaterThan(11);
  });

  const http = (range: string, measure: string, runs: number[], more: Case['labels'] = {}): Case =>
    series({
      name: `pageviews, ${range}`,
      measure,
      runs,
      labels: { endpoint: 'pageviews', range, over: 'HTTP', events: 5_000, ...more },
    });
  /** The texts of the cards, by figure. */
  const headlinesOf = (cases: readonly Case[]): string[] =>
    [...pageOf(resultOf(cases)).matchAll(/<div class="card[^"]*"><b>(.*?)<\/b><span>(.*?)<\/span>/g)].map(
      ([, value, says]) => `${value} ${says}`,
    );

  test('a deployment has its own figures', () => {
    const told = headlinesOf([
      http('ending now', 'computed', [20, 21, 22], { asked: 'new range' }),
      http('fixed', 'computed', [19, 20, 21], { asked: 'after an event' }),
      http('ending now', 'unchanged', [2, 3, 4]),
    ]);
    expect(told).toEqual([
      'None of the answers were compared with the exact count',
      '20.0 ms median question over HTTP, computed, 5k events',
      '3.00 ms median question over HTTP, unchanged (304), 5k events',
    ]);
  });

  test('no headline of computed answers counts one that was kept', () => {
    const early = ['ragged', 'ending now', 'unbounded', 'unbounded', 'fixed', 'fixed'].map((range) =>
      http(range, 'computed', [range === 'ragged' || range === 'ending now' ? 30 : 1]),
    );
    expect(headlinesOf(early)).toContain('30.0 ms median question over HTTP, computed, 5k events');
    const inProcess = ['ragged', 'unbounded', 'unbounded', 'fixed'].map((range) =>
      http(range, 'polled', [range === 'ragged' ? 30 : 1]),
    );
    expect(headlinesOf(inProcess)).toContain(
      '30.0 ms median question, polled at other milliseconds each time, 5k events',
    );
    expect(headlinesOf([http('fixed', 'kept', [1])])).toHaveLength(1);
  });

  test('of small data, the ratio to raw is no headline, and the page says why', () => {
    const of = (events: number, raw: number) => [
      http('ragged', 'first', [10], { events }),
      { ...http('ragged', 'raw', [raw], { events }), ofService: false },
    ];
    const small = pageOf(resultOf(of(150_000, 9.1)));
    expect(small).not.toContain('than raw at');
    expect(small).toContain('<div class="note">The questions are about 150k events. With so few,');
    expect(headlinesOf(of(3_000_000, 250))).toContain(
      '25.0× faster than raw at 3M events (median, first questions)',
    );
    expect(headlinesOf(of(3_000_000, 5))).toContain(
      '2.00× slower than raw at 3M events (median, first questions)',
    );
    expect(pageOf(resultOf(of(3_000_000, 250)))).not.toContain('The questions are about');
  });

  test('a best case says which one it is, and is not the only one', () => {
    const full = (name: string, perSecond: number) =>
      series({
        bench: 'http',
        name,
        measure: 'throughput',
        unit: 'requests/s',
        better: 'higher',
        runs: [perSecond],
      });
    const told = headlinesOf([
      full('listPageviews 304, with Redis', 8_000),
      full('200 keys polling while events arrive, with Redis', 3_000),
      full('200 keys polling while events arrive, max-stale=10, with Redis', 7_000),
      series({
        bench: 'ingest',
        name: 'batches of 500',
        measure: 'throughput',
        unit: 'events/s',
        runs: [85_000],
      }),
    ]);
    expect(told.slice(1)).toEqual([
      '8000/s requests at full speed, the best case: listPageviews 304, with Redis',
      '3000/s requests at full speed: 200 keys polling while events arrive, with Redis',
      '85,000/s events stored, the best case: batches of 500',
    ]);
  });

  test('it leaves out what was not measured', () => {
    const small = pageOf(resultOf([series({ runs: [1] })]));
    expect(small).not.toContain('Throughput against latency');
    expect(small).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('it says what is wrong, interrupted, or not to be trusted', () => {
    const result = resultOf([series({ runs: [1], exact: false })]);
    const told = pageOf({
      ...result,
      complete: false,
      notes: ['<b>note</b>'],
      environment: { ...result.environment, loadBefore: 1.5 },
    });
    expect(told).toContain('1 wrong');
    expect(told).toContain('The run was interrupted.');
    expect(told).toContain('The machine was busy');
    expect(told).toContain('&lt;b&gt;note&lt;/b&gt;');
    expect(told).toContain('too few runs');
  });
});
