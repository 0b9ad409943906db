import type { BenchOptions } from '../src/cli/bench-command.ts';
import { CliError } from '../src/cli/cli-error.ts';
import { benchData } from './data.ts';
import { benchHttp } from './http.ts';
import { QUESTIONS } from './http-site.ts';
import { benchIngest, CASES } from './ingest.ts';
import { benchOverload } from './overload.ts';
import { benchQueries } from './queries.ts';
import type { Recording } from './recording.ts';
import { benchScale } from './scale.ts';
import { benchSoak } from './soak.ts';

/** The sizes of one preset. */
interface Preset {
  readonly shape: { readonly events: number; readonly days: number };
  readonly scale: { readonly events: number; readonly days: number };
  readonly runs: number;
  /** The time between events and the question after them. */
  readonly pauseMs: number;
  readonly seconds: number;
  /** The number of endpoints beside the bare route. */
  readonly endpoints: number;
  readonly alsoWithoutRedis: boolean;
  readonly shares: readonly number[];
  readonly alsoStale: boolean;
  readonly ingestCases: number;
  readonly ingestSeconds: number;
  readonly importedEvents: number;
  readonly overloadSeconds: number;
  readonly overloadBatches: number;
  readonly soakMinutes: number;
  /** About how long the parts take on two cores, in seconds: data and queries, scale, http, ingest, overload, soak. */
  readonly expected: readonly [number, number, number, number, number, number];
}

const PRESETS: Readonly<Record<'quick' | 'standard' | 'full', Preset>> = {
  quick: {
    shape: { events: 300_000, days: 10 },
    scale: { events: 200_000, days: 5 },
    runs: 4,
    pauseMs: 200,
    seconds: 1,
    endpoints: 2,
    alsoWithoutRedis: false,
    shares: [0.25, 0.5, 0.75],
    alsoStale: false,
    ingestCases: 2,
    ingestSeconds: 4,
    importedEvents: 50_000,
    overloadSeconds: 4,
    overloadBatches: 12,
    soakMinutes: 0.3,
    expected: [60, 20, 35, 25, 15, 22],
  },
  standard: {
    shape: { events: 3_000_000, days: 30 },
    scale: { events: 2_000_000, days: 10 },
    runs: 9,
    pauseMs: 500,
    seconds: 3,
    endpoints: 4,
    alsoWithoutRedis: false,
    shares: [0.25, 0.5, 0.75, 0.9],
    alsoStale: true,
    ingestCases: 3,
    ingestSeconds: 15,
    importedEvents: 1_000_000,
    overloadSeconds: 15,
    overloadBatches: 60,
    soakMinutes: 2,
    expected: [300, 150, 130, 130, 60, 125],
  },
  full: {
    shape: { events: 30_000_000, days: 30 },
    scale: { events: 30_000_000, days: 30 },
    runs: 30,
    pauseMs: 1_000,
    seconds: 10,
    endpoints: QUESTIONS.length,
    alsoWithoutRedis: true,
    shares: [0.25, 0.5, 0.75, 0.9],
    alsoStale: true,
    ingestCases: 3,
    ingestSeconds: 30,
    importedEvents: 1_000_000,
    overloadSeconds: 30,
    overloadBatches: 60,
    soakMinutes: 30,
    expected: [5_400, 5_400, 1_500, 240, 100, 1_800],
  },
};

/** The same for a deployment. Its keys' limit, not the machine, decides how many requests are sent. */
export const DEPLOYMENT_PRESETS = {
  quick: { events: 5_000, days: 30, runs: 2, seconds: 10 },
  standard: { events: 50_000, days: 30, runs: 5, seconds: 60 },
  full: { events: 100_000, days: 90, runs: 10, seconds: 300 },
} as const;

export function presetOf(options: Pick<BenchOptions, 'quick' | 'standard' | 'full'>): keyof typeof PRESETS {
  const names = (['quick', 'standard', 'full'] as const).filter((name) => options[name] === true);
  if (names.length > 1) throw new CliError(`Say one of --${names.join(' and --')}.`);
  return names[0] ?? 'quick';
}

/** Runs all benches of this machine, one after the other. A part that fails does not keep the others from running. */
export async function runSuite(recording: Recording, dir: string, options: BenchOptions): Promise<void> {
  const preset = PRESETS[presetOf(options)];
  const { shape, scale, runs, pauseMs, seconds, ingestSeconds, importedEvents, soakMinutes } = preset;
  const parts: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'data and queries',
      async () => {
        await benchData(recording, dir, shape);
        await benchQueries(recording, dir, shape, { runs, pauseMs });
      },
    ],
    ['scale', () => benchScale(recording, dir, scale, runs)],
    [
      'http',
      () => {
        const questions = QUESTIONS.slice(0, preset.endpoints);
        return benchHttp(recording, seconds, { ...preset, questions });
      },
    ],
    [
      'ingest',
      () =>
        benchIngest(recording, ingestSeconds, { importedEvents, cases: CASES.slice(0, preset.ingestCases) }),
    ],
    ['overload', () => benchOverload(recording, preset.overloadSeconds, preset.overloadBatches)],
    ['soak', () => benchSoak(recording, soakMinutes)],
  ];
  for (const [i, [name, run]] of parts.entries()) {
    if (recording.stopping) return;
    const later = preset.expected.slice(i + 1).reduce((sum, part) => sum + part, 0);
    recording.progress.part(`[${i + 1}/${parts.length}] `, later);
    await run().catch((error: unknown) => {
      if (recording.stopping) return;
      recording.fail(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
}
