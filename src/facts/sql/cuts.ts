import { anyOf, inMs, inSpans } from '../../clickhouse/literals.ts';
import { quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import type { FactKind } from '../../domain/fact-kinds.ts';
import { DAY_MS, type Span } from '../../domain/time.ts';
import { bucketsOf, COARSE_UNITS, GRAINED, type Grained, inBuckets, inFinest } from './tables.ts';

/** The rows of a table that belong to some hours. */
interface Cut {
  readonly table: string;
  /** SQL condition: the row belongs to one of these hours, or to a coarser bucket that contains one. */
  within(spans: readonly Span[]): Sql;
}

const grainedCut = ({ table, base, byDay }: Grained): Cut => ({
  table,
  within: (spans) =>
    anyOf([
      sql`grain = ${quoted(base)} AND ${inFinest(byDay, spans)}`,
      ...COARSE_UNITS.map(
        ([grain, unitMs]) => sql`grain = ${quoted(grain)} AND ${inBuckets(byDay, bucketsOf(spans, unitMs))}`,
      ),
    ]),
});

const dayCut = (table: string): Cut => ({
  table,
  within: (spans) => inSpans(sql`day`, bucketsOf(spans, DAY_MS)),
});

const sealedHours = (kind: FactKind): Cut => ({
  table: 'sealed_hours',
  within: (spans) => sql`kind = ${quoted(kind)} AND ${inSpans(sql`hour`, spans)}`,
});

/** All tables of facts, by kind. `sealed_hours` is cleared first: an hour without its count is not sealed. */
export const CUTS: { readonly [Kind in FactKind]: readonly Cut[] } = {
  page: [
    sealedHours('page'),
    ...GRAINED.page.map(grainedCut),
    { table: 'revisits', within: (spans) => inSpans(sql`hour`, spans) },
    { table: 'event_quarters', within: (spans) => inSpans(sql`bucket`, spans) },
  ],
  session: [
    sealedHours('session'),
    ...GRAINED.session.map(grainedCut),
    ...['return_pairs', 'utm_return_pairs'].map(dayCut),
    ...['session_facts', 'visitor_sessions', 'session_returns', 'utm_facts', 'utm_returns'].map((table) => ({
      table,
      within: (spans: readonly Span[]) => inMs(sql`started_at`, spans),
    })),
  ],
};
