import { z } from 'zod';
import { byName } from '../domain/by-name.ts';
import type { Answer } from './answer.ts';
import { change, figuresOf, Timestamp } from './fields.ts';
import { FIGURES, KPI_FIGURES } from './figures.ts';

const KpiMetrics = z.strictObject(figuresOf(KPI_FIGURES));
export type KpiMetrics = Answer<typeof KpiMetrics>;

const KpiPeriod = z
  .strictObject({ from: Timestamp, to: Timestamp, ...KpiMetrics.shape })
  .meta({ id: 'KpiPeriod' });
export type KpiPeriod = Answer<typeof KpiPeriod>;

export const KpiComparison = z
  .strictObject({
    current: KpiPeriod,
    previous: KpiPeriod,
    change: z
      .strictObject(byName(KPI_FIGURES, (name) => change(name, FIGURES[name].unit)))
      .meta({ description: 'Current minus previous, as returned.' }),
    changePercent: z
      .strictObject(byName(KPI_FIGURES, (name) => change(name, 'percent').nullable()))
      .meta({ description: 'Change in percent of previous, 2 decimals; null where previous is 0.' }),
  })
  .meta({ id: 'PublicOverviewKpiResponseDto' });
export type KpiComparison = Answer<typeof KpiComparison>;
