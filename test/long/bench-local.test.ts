import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readResult } from '../../bench/result/file.ts';
import type { Case } from '../../bench/result/schema.ts';
import { newFolder, runBench } from '../bench/runs.ts';

// Each test starts a service or two, as small and as short as the options allow.

const folder = newFolder();
afterAll(() => folder.remove());

interface Measured {
  readonly code: number | null;
  readonly output: string;
  readonly cases: readonly Case[];
}

/** Runs a bench to its end, and shows that its result is whole and that it leaves nothing behind. */
async function measured(name: string, ...args: string[]): Promise<Measured> {
  const temporary = join(folder.path, name);
  mkdirSync(temporary);
  const json = join(folder.path, `${name}.json`);
  const { code, output, errors } = await runBench([name, ...args, '--json', json], {
    env: { TMPDIR: temporary },
  });
  expect(errors).not.toMatch(/warning|error/i);
  expect(readdirSync(temporary)).toEqual([]);
  expect(processesWith(temporary)).toEqual([]);
  const { complete, notes, cases } = readResult(json);
  const few = args.includes('--runs') ? [expect.stringMatching(/^With 1 run of each question, /)] : [];
  expect({ complete, notes }).toEqual({ complete: true, notes: few });
  const beside = name === 'queries' ? ['usual ways'] : [];
  expect(new Set(cases.map(({ bench }) => bench))).toEqual(new Set([name, ...beside]));
  return { code, output, cases };
}

/** Every part of a bench has its folder in the environment or in the command. */
const processesWith = (text: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return ['environ', 'cmdline'].some((file) =>
        readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(text),
      );
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });

const named = (cases: readonly Case[], measure: string): string[] =>
  cases.filter((entry) => entry.measure === measure).map(({ name }) => name);

/** The figures that a bench compares with its own count. */
const checked = (cases: readonly Case[]): unknown[] =>
  cases
    .filter(({ exact }) => exact !== null)
    .map(({ name, measure, runs, exact }) => ({ name, measure, runs: runs.length, exact }));

test('http: answers beside a bare route, and keys that poll; a limit that does not hold', async () => {
  const small = ['--quick', '--apps', '1', '--seconds', '0.05'];
  const { code, output, cases } = await measured('http', ...small, '--assert', 'http:p50=0.001ms');
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^FAILED: http:p50=0\.001ms: /m),
  });
  const beside = named(cases, 'bare route');
  expect(beside).toHaveLength(2);
  const mixes = [
    '10 keys polling without new events, with Redis',
    '10 keys polling while events arrive, with Redis',
  ];
  expect(named(cases, 'throughput')).toEqual([...beside, ...mixes]);
  expect(named(cases, 'rate')).toEqual(
    mixes.flatMap((mix) => [50, 90].map((share) => `${mix}, at ${share} %`)),
  );
  expect(checked(cases)).toEqual([
    { name: 'all apps, with Redis', measure: 'pageviews counted', runs: 1, exact: true },
  ]);
});

/** The measures of the cases, each case with exact figures. */
const measures = (cases: readonly Case[]): string[] => {
  expect(cases.filter(({ exact }) => exact === false)).toEqual([]);
  return [...new Set(cases.map(({ measure }) => measure))];
};

test('queries: first, again, live, storing, late and raw, each exact', async () => {
  const small = ['--events', '3000', '--days', '4', '--runs', '1', '--dir', join(folder.path, 'sets')];
  const { code, output, cases } = await measured('queries', ...small);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(measures(cases)).toEqual(
    expect.arrayContaining(['polled', 'kept', 'first', 'live', 'storing', 'late', 'raw']),
  );
  const polled = cases.filter(({ measure }) => measure === 'polled').map(({ labels }) => labels['range']);
  expect(new Set(polled)).toEqual(new Set(['ragged', 'ending now']));
});

test('scale: more traffic and more days, each exact', async () => {
  const small = ['--events', '3000', '--days', '4', '--runs', '1', '--dir', join(folder.path, 'sets')];
  const { code, output, cases } = await measured('scale', ...small);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(measures(cases)).toEqual(['first', 'raw']);
});

test('ingest: batches and a file, each counted', async () => {
  const { code, output, cases } = await measured('ingest', '--quick', '--events', '500', '--seconds', '0.1');
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(checked(cases)).toEqual(
    ['batches of 20', 'batches of 500', 'import'].map((name) => ({
      name,
      measure: 'throughput',
      runs: name === 'import' ? 1 : 4,
      exact: true,
    })),
  );
  expect(named(cases, 'memory')).toEqual(['batches of 20', 'batches of 500', 'import']);
});

test('overload: twice what can be answered; a limit that holds', async () => {
  const small = ['--quick', '--events', '4000', '--seconds', '0.2'];
  const { code, output, cases } = await measured('overload', ...small, '--assert', 'health:p50=10000s');
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(named(cases, 'throughput')).toEqual(['twice the capacity']);
  expect(named(cases, 'recovery')).toEqual(['afterwards']);
  expect(checked(cases)).toEqual([{ name: 'all apps', measure: 'pageviews counted', runs: 1, exact: true }]);
});

test('soak: a verdict on each measure, after an app was replaced; a limit about nothing', async () => {
  const small = ['--minutes', '0.01', '--requests-per-second', '20'];
  const { code, output, cases } = await measured('soak', ...small, '--assert', 'no such case:p50=10000s');
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^FAILED: no such case:p50=10000s: no latency was measured/m),
  });
  expect(output).toMatch(/^\d+ requests, 0 of them neither 200 nor 304; .* 0 streams ended unasked; /m);
  const followed = cases.filter(({ measure }) => measure === 'by stretch');
  expect(followed.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['memory, MiB', 'open files', 'threads', 'disk, MiB']),
  );
  for (const { labels } of followed)
    expect(labels['verdict']).toMatch(/^(within noise|rises|falls|too few stretches)$/);
  expect(checked(cases)).toEqual([{ name: 'all apps', measure: 'pageviews counted', runs: 1, exact: true }]);
});
