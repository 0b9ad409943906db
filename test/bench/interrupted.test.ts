import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readResult } from '../../bench/result/file.ts';
import { newFolder, runBench } from './runs.ts';

const folder = newFolder();
afterAll(() => folder.remove());

const SMALL = ['--events', '4000', '--days', '4', '--runs', '10000', '--dir', join(folder.path, 'data')];

test('Ctrl+C keeps what was measured: whole files, which say that the run was interrupted', async () => {
  const [json, html] = [join(folder.path, 'a.json'), join(folder.path, 'a.html')];
  const { code, errors } = await runBench(['queries', ...SMALL, '--json', json, '--html', html], {
    until: /queries: round \(3 of 10000, about .* left\)/,
  });
  expect(code).toBe(130);
  expect(errors).toContain('Stopping. What was measured is kept.');
  const { complete, cases } = readResult(json);
  expect(complete).toBe(false);
  const polled = cases.filter(({ measure }) => measure === 'polled' || measure === 'kept');
  expect(polled).toHaveLength(51);
  for (const { runs, exact } of polled) {
    expect(runs.length).toBeGreaterThanOrEqual(2);
    expect(exact).toBe(true);
  }
  expect(cases.some(({ measure }) => measure === 'live')).toBe(false);
  expect(readFileSync(html, 'utf8')).toContain('The run was interrupted.');
}, 240_000);

test('interrupted before anything was measured, it leaves no file', async () => {
  const inside = newFolder();
  const files = [`--json=${join(inside.path, 'b.json')}`, `--html=${join(inside.path, 'b.html')}`];
  const args = ['data', '--events', '4000', '--days', '40', '--dir', join(folder.path, 'other'), ...files];
  const { code, errors } = await runBench(args, { until: /generating: a day/ });
  expect(code).toBe(130);
  expect(errors).toContain('Nothing was measured, so no file was written.');
  expect(readdirSync(inside.path)).toEqual([]);
  inside.remove();
});
