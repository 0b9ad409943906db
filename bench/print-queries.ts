import type { Measured, MeasuredLive } from './measure.ts';
import { median, percentile, runsFor } from './statistics.ts';
import type { Storage } from './storage.ts';
import type { Manifest } from './store.ts';
import { figure, mebibytes, short, table } from './table.ts';

/** The 99th percentile, or the largest value if there are too few for it. */
function p99(values: readonly number[]): string {
  const value = figure(percentile(values, 0.99));
  return values.length < runsFor(0.99) ? `max ${value}` : value;
}

export function printResults(measured: readonly MeasuredLive[]): void {
  const rows = measured.map(
    ({
      case: { endpoint, range },
      ms,
      cpuMs,
      firstMs,
      liveMs,
      storingMs,
      lateMs,
      rawMs,
      rawCpuMs,
      reads,
      statements,
      equal,
    }) => [
      endpoint,
      range,
      figure(median(ms)),
      p99(ms),
      figure(median(cpuMs)),
      figure(median(firstMs)),
      p99(firstMs),
      liveMs === null ? '' : figure(median(liveMs)),
      liveMs === null ? '' : p99(liveMs),
      storingMs === null ? '' : figure(median(storingMs)),
      storingMs === null ? '' : p99(storingMs),
      lateMs === null ? '' : figure(median(lateMs)),
      lateMs === null ? '' : p99(lateMs),
      figure(median(rawMs)),
      figure(median(rawCpuMs)),
      `${figure(median(rawMs) / median(ms))}×`,
      `${figure(median(rawMs) / median(firstMs))}×`,
      String(statements.size),
      short(reads.rows),
      mebibytes(reads.bytes),
      equal ? 'yes' : 'NO',
    ],
  );
  const header = [
    'endpoint',
    'range',
    'p50 ms',
    'p99 ms',
    'cpu ms',
    'first ms',
    'first p99',
    'live ms',
    'live p99',
    'storing ms',
    'storing p99',
    'late ms',
    'late p99',
    'raw ms',
    'raw cpu ms',
    'ratio',
    'first ratio',
    'statements',
    'rows',
    'MiB',
    'equal',
  ];
  console.log(`\n${table(header, rows)}`);
  const runs = Math.max(...measured.map(({ ms }) => ms.length));
  if (runs < runsFor(0.99)) {
    console.log(`\nToo few runs for p99: ${runs}, and it needs ${runsFor(0.99)}. "max" is the largest.`);
  }
}

/** Prints the time of each statement. Statements of one question run in parallel where possible. */
export function printStatements(measured: readonly Measured[]): void {
  const rows = measured.flatMap(({ case: { endpoint, range }, statements }) =>
    [...statements].map(([name, ms]) => [endpoint, range, name, figure(median(ms)), p99(ms)]),
  );
  console.log(`\n${table(['endpoint', 'range', 'statement', 'p50 ms', 'p99 ms'], rows, 3)}`);
}

export function printStorage(
  groups: readonly Storage[],
  tables: readonly { table: string; bytes: number; rows: number; parts: number }[],
): void {
  const raw = groups[0] ?? { bytes: 0, rows: 0 };
  const all = groups.reduce((sum, { bytes }) => sum + bytes, 0);
  const row = (name: string, bytes: number, rows: string, parts: string) => [
    name,
    mebibytes(bytes),
    rows,
    parts,
    (bytes / raw.rows).toFixed(2),
    `${((bytes / raw.bytes) * 100).toFixed(1)} %`,
  ];
  const line = ({ bytes, rows, parts }: { bytes: number; rows: number; parts: number }, name: string) =>
    row(name, bytes, short(rows), String(parts));
  const header = ['on disk', 'MiB', 'rows', 'parts', 'bytes per event', 'of raw'];
  const summary = [
    ...groups.map((group) => line(group, group.group)),
    row('facts and rollups', all - raw.bytes, '', ''),
    row('all', all, '', ''),
  ];
  console.log(`\n${table(header, summary, 1)}`);
  console.log(
    `\n${table(
      ['table', ...header.slice(1)],
      tables.map((entry) => line(entry, entry.table)),
      1,
    )}`,
  );
}

export function printSealing({ generating, sealing }: Manifest): void {
  const rows = (['page', 'session'] as const).map((kind) => {
    const { events, ms, stretches } = sealing[kind];
    return [
      kind,
      String(events),
      String(stretches),
      (ms / 1000).toFixed(1),
      String(Math.round((events * 1000) / ms)),
    ];
  });
  console.log(`\n${table(['sealed', 'events', 'stretches', 's', 'events/s'], rows, 1)}`);
  console.log(
    `peak memory of the process: ${mebibytes(sealing.peakBytes)} MiB sealing, ${mebibytes(generating.peakBytes)} MiB inserting (${(generating.ms / 1000).toFixed(0)} s)`,
  );
}
