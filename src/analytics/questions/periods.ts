/** A part of a period's totals, and which period it belongs to. */
type Part<Totals> = Partial<Totals> & { readonly period: number };

/** For each of `periods` the sums of its parts, figure by figure; the figures are those of `nothing`. */
export const addedByPeriod = <Totals extends Record<string, number>>(
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
