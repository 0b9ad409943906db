/** Formats columns as wide as their widest cell. All but the first `left` columns are right-aligned. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], left = 2): string {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i < left ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Formats 1.2, 34.5, 678 with as many digits as are significant. */
export const figure = (value: number): string =>
  Number.isNaN(value) ? '-' : value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);

export const mebibytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(bytes < 1024 ** 2 ? 3 : 1);

/** Formats 30000000 as 30M. */
export const short = (count: number): string =>
  count >= 1e6 ? `${Math.round(count / 1e5) / 10}M` : `${Math.round(count / 100) / 10}k`;
