import type { Case, Result } from '../../bench/result/schema.ts';

/** A series of the service in ms, for which lower is better. */
export const series = (told: Partial<Case> & Pick<Case, 'runs'>): Case => ({
  bench: 'queries',
  name: 'pageviews, aligned',
  measure: 'polled',
  unit: 'ms',
  better: 'lower',
  ofService: true,
  labels: { endpoint: 'pageviews', range: 'aligned', events: 1000, days: 4 },
  histogram: null,
  exact: null,
  ...told,
});

export const resultOf = (cases: readonly Case[]): Result => ({
  format: 'session-analytics-bench',
  version: 1,
  command: 'bench queries',
  startedAt: '2026-11-22T10:00:00.000Z',
  endedAt: '2026-11-22T10:05:00.000Z',
  complete: true,
  environment: {
    cpu: 'A processor',
    cores: 2,
    memoryGiB: 8,
    system: 'Linux 6.1',
    node: 'v20.20.2',
    engine: 'ClickHouse 26.7',
    version: '0.1.0',
    commit: null,
    loadBefore: 0,
    loadAfter: 2,
    target: null,
  },
  notes: [],
  cases: [...cases],
});
