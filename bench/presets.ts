import type { BenchOptions } from '../src/cli/bench-command.ts';
import { CliError } from '../src/cli/cli-error.ts';

/** The sizes of one preset. */
interface Preset {
  readonly shape: { readonly events: number; readonly days: number };
  readonly scale: { readonly events: number; readonly days: number };
  readonly runs: number;
  /** The time between events and the question after them. */
  readonly pauseMs: number;
  readonly seconds: number;
  /** Apps that are polled over HTTP, each with ten keys. */
  readonly apps: number;
  /** The first so many endpoints are measured beside the bare route. */
  readonly endpoints: number;
  readonly alsoWithoutRedis: boolean;
  readonly shares: readonly number[];
  readonly alsoStale: boolean;
  /** Events in a batch, of each case. */
  readonly batches: readonly number[];
  readonly ingestSeconds: number;
  readonly importedEvents: number;
  readonly overloadSeconds: number;
  readonly overloadEvents: number;
  readonly soakMinutes: number;
  /** About how long the parts take on two cores, in seconds: data and queries, scale, http, ingest, overload, soak. */
  readonly expected: readonly [number, number, number, number, number, number];
}

export const PRESETS: Readonly<Record<'quick' | 'standard' | 'full', Preset>> = {
  quick: {
    shape: { events: 150_000, days: 10 },
    scale: { events: 100_000, days: 5 },
    runs: 5,
    pauseMs: 100,
    seconds: 1,
    apps: 20,
    endpoints: 1,
    alsoWithoutRedis: false,
    shares: [0.5, 0.9],
    alsoStale: false,
    batches: [20, 500],
    ingestSeconds: 3,
    importedEvents: 30_000,
    overloadSeconds: 3,
    overloadEvents: 36_000,
    soakMinutes: 0.25,
    expected: [80, 25, 35, 25, 15, 22],
  },
  standard: {
    shape: { events: 3_000_000, days: 30 },
    scale: { events: 2_000_000, days: 10 },
    runs: 9,
    pauseMs: 500,
    seconds: 3,
    apps: 20,
    endpoints: 4,
    alsoWithoutRedis: false,
    shares: [0.25, 0.5, 0.75, 0.9],
    alsoStale: true,
    batches: [20, 500, 1],
    ingestSeconds: 15,
    importedEvents: 1_000_000,
    overloadSeconds: 15,
    overloadEvents: 240_000,
    soakMinutes: 2,
    expected: [300, 150, 130, 130, 60, 125],
  },
  full: {
    shape: { events: 30_000_000, days: 30 },
    scale: { events: 30_000_000, days: 30 },
    runs: 30,
    pauseMs: 1_000,
    seconds: 10,
    apps: 20,
    endpoints: Number.POSITIVE_INFINITY,
    alsoWithoutRedis: true,
    shares: [0.25, 0.5, 0.75, 0.9],
    alsoStale: true,
    batches: [20, 500, 1],
    ingestSeconds: 30,
    importedEvents: 1_000_000,
    overloadSeconds: 30,
    overloadEvents: 240_000,
    soakMinutes: 30,
    expected: [5_400, 5_400, 1_500, 240, 100, 1_800],
  },
};

/** The same for a deployment. Its keys' limit, not the machine, decides how many requests are sent. */
export const DEPLOYMENT_PRESETS = {
  quick: { events: 5_000, days: 30, runs: 5, seconds: 10 },
  standard: { events: 50_000, days: 30, runs: 9, seconds: 60 },
  full: { events: 100_000, days: 90, runs: 20, seconds: 300 },
} as const;

export function presetOf(options: Pick<BenchOptions, 'quick' | 'standard' | 'full'>): keyof typeof PRESETS {
  const names = (['quick', 'standard', 'full'] as const).filter((name) => options[name] === true);
  if (names.length > 1) throw new CliError(`Say one of --${names.join(' and --')}.`);
  return names[0] ?? 'quick';
}
