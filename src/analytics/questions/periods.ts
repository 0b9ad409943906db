/** Some of the totals of a period, given by its index. */
type Part<Totals> = Partial<Totals> & { readonly period: number };

/** Sums the parts of each of `periods`, for the figures that `nothing` has. */
export const sumByPeriod = <Totals extends Record<string, number>>(
  periods: readonly unknown[],
  nothing: Totals,
  parts: readonly Part<Totals>[],
): Totals[] =>
  periods.map((_, index) => {
    const totals: Record<string, number> = { ...nothing };
    for (const part of parts) {
      if (part.period !== index) continue;
      for (const name of Object.keys(nothing)) totals[name] = (totals[name] ?? 0) + (part[name] ?? 0);
    }
    return totals as Totals;
  });
