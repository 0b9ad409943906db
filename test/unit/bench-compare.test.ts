import { describe, expect, test } from 'vitest';
import { checkAssertions, parseAssertion } from '../../bench/assertions.ts';
import { compare } from '../../bench/compare.ts';
import { DEPLOYMENT_PRESETS, PRESETS } from '../../bench/presets.ts';
import type { Case } from '../../bench/result/schema.ts';
import { Tally } from '../../bench/tally.ts';
import { resultOf, series } from '../support/bench-result.ts';

/** Runs with some noise around a middle. */
const around = (middle: number, count = 12): number[] =>
  Array.from({ length: count }, (_, i) => middle * (1 + ((i * 7) % 5) / 100));

const verdictOf = (a: Case, b: Case, threshold = 10) =>
  compare(resultOf([a]), resultOf([b]), threshold).compared.map(({ verdict }) => verdict);

describe('compare', () => {
  test('a slower case is worse, a faster one better, noise is neither', () => {
    expect(verdictOf(series({ runs: around(10) }), series({ runs: around(15) }))).toEqual(['worse']);
    expect(verdictOf(series({ runs: around(15) }), series({ runs: around(10) }))).toEqual(['better']);
    expect(verdictOf(series({ runs: around(10) }), series({ runs: around(10.2) }))).toEqual(['same']);
  });

  test('of a throughput, more is better', () => {
    const of = (runs: number[]) => series({ runs, unit: 'requests/s', better: 'higher' });
    expect(verdictOf(of(around(10)), of(around(15)))).toEqual(['better']);
    expect(verdictOf(of(around(15)), of(around(10)))).toEqual(['worse']);
  });

  test('a difference below the threshold does not count, however certain', () => {
    const [a, b] = [series({ runs: around(100, 50) }), series({ runs: around(108, 50) })];
    expect(verdictOf(a, b, 10)).toEqual(['same']);
    expect(verdictOf(a, b, 2)).toEqual(['worse']);
  });

  test('few runs are too few, except for bytes, which are equal in every run', () => {
    expect(verdictOf(series({ runs: [10, 11] }), series({ runs: [100, 110] }))).toEqual(['too few runs']);
    const bytes = (runs: number[]) => series({ runs, unit: 'bytes' });
    expect(verdictOf(bytes([1000]), bytes([1200]))).toEqual(['worse']);
    expect(verdictOf(bytes([1000]), bytes([1010]))).toEqual(['same']);
  });

  test('what never happened in either is the same', () => {
    const share = (runs: number[]) => series({ runs, unit: '%' });
    expect(verdictOf(share([0]), share([0]))).toEqual(['same']);
    expect(verdictOf(share([0]), share([5]))).toEqual(['too few runs']);
  });

  test('a run of every preset has enough runs of each question for a verdict', () => {
    const presets = [...Object.values(PRESETS), ...Object.values(DEPLOYMENT_PRESETS)];
    for (const { runs } of presets) {
      expect(verdictOf(series({ runs: around(10, runs) }), series({ runs: around(20, runs) }))).toEqual([
        'worse',
      ]);
    }
  });

  test('an answer that is no longer exact is worse, however fast', () => {
    const [a, b] = [series({ runs: around(10), exact: true }), series({ runs: around(1), exact: false })];
    expect(verdictOf(a, b)).toEqual(['worse']);
  });

  test('cases of one file alone, or under other conditions, are named and not compared', () => {
    const a = resultOf([
      series({ runs: around(1), name: 'of A' }),
      series({ runs: around(1), labels: { events: 1000 } }),
      series({ runs: around(1), measure: 'cores', better: null }),
    ]);
    const b = resultOf([
      series({ runs: around(1), name: 'of B' }),
      series({ runs: around(1), labels: { events: 2000 } }),
    ]);
    expect(compare(a, b, 10)).toEqual({
      compared: [],
      left: [
        'queries: of A, polled: only in the first file',
        'queries: pageviews, aligned, polled: measured under other conditions',
        'queries: of B, polled: only in the second file',
      ],
    });
  });
});

describe('--assert', () => {
  const check = (text: string, ...cases: Case[]) => checkAssertions(cases, [parseAssertion(text)]);

  test.each(['p99', 'p99=50', 'p0=1ms', 'p99<50ms', 'fast'])('%s is refused', (text) => {
    expect(() => parseAssertion(text)).toThrow(`'${text}' must have a form such as p99=50ms`);
  });

  test('passes below the limit, and fails above it', () => {
    expect(check('p50=20ms', series({ runs: around(10) }))).toEqual([]);
    expect(check('p50=0.02s', series({ runs: around(10) }))).toEqual([]);
    expect(check('p50=5ms', series({ runs: [9, 9] }))).toEqual([
      'p50=5ms: queries: pageviews, aligned, polled took 9.00 ms.',
    ]);
  });

  test('too few runs for the percentile cannot pass', () => {
    expect(check('p99=50ms', series({ runs: around(10) }))).toEqual([
      'p99=50ms: queries: pageviews, aligned, polled has 12 runs, and this percentile needs 100.',
    ]);
  });

  test('of a load, all latencies count, and not the seconds', () => {
    const tally = new Tally(40_000);
    for (let i = 0; i < 1000; i++) tally.note(i < 980 ? 1 : 100, 200);
    const { histogram } = tally.outcome();
    const load = series({ bench: 'http', name: 'polling', measure: 'latency', runs: [1], histogram });
    expect(check('http:p99=50ms', load)).toEqual([expect.stringContaining('took 100 ms')]);
    expect(check('http:p95=50ms', load)).toEqual([]);
  });

  test('a name chooses the cases; baselines are never meant; no case at all fails', () => {
    const raw = series({ runs: around(100), measure: 'raw', ofService: false });
    expect(check('queries:p50=50ms', series({ runs: around(10) }), raw)).toEqual([]);
    expect(check('http:p50=50ms', raw)).toEqual(['http:p50=50ms: no latency was measured that it is about.']);
  });
});
