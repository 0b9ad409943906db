import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EVENT_SUMS, SESSION_SUMS } from '../../src/analytics/answers/sums.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { figureRows, figuresText } from '../../src/http/docs/figures.ts';

/* Statements are made from the declarations. The views' statements are frozen text: they must say the same. */

const migration = (name: string): string =>
  readFileSync(new URL(`../../clickhouse/migrations/${name}.sql`, import.meta.url), 'utf8');
const viewOf = (text: string, view: string): string =>
  text.slice(text.indexOf(`VIEW IF NOT EXISTS ${view} `)).split(';\n')[0] ?? '';

test.each(Object.entries(SESSION_SUMS))('the sum %s is that of the view', (_name, { of, counts, column }) => {
  const view = viewOf(migration('0004_facts'), 'session_sums_from_stage');
  const sql = of === null ? 'count()' : counts === 'values' ? `sum(s.${of})` : `countIf(s.${of} > 0)`;
  expect(view).toContain(`    ${sql} AS ${column},\n`);
});

test.each(Object.entries(EVENT_SUMS))('the sum %s of events is that of the view', (name, type) => {
  const view = viewOf(migration('0001_events'), 'traffic_from_events');
  expect(view).toContain(`    countIf(type = '${type}') AS ${name},\n`);
});

/** Numbers that name a row. */
const KEYS = ['days.dayOfWeek', 'latitude', 'longitude'];

test('every number of every answer has a declared figure', () => {
  const rows = ENDPOINTS.flatMap((endpoint) => figureRows(endpoint));
  expect(
    rows
      .filter(({ meaning }) => meaning === null)
      .map(({ field }) => field)
      .sort(),
  ).toEqual(KEYS);
  expect(rows.length).toBeGreaterThan(90);
});

test('docs/figures.md is up to date: `npm run openapi` writes it', () => {
  const text = readFileSync(new URL('../../docs/figures.md', import.meta.url), 'utf8');
  expect(text).toBe(figuresText());
});
