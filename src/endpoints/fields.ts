import { z } from 'zod';

/** Fields of many answers. */
export const Count = z.int().min(0);
export const Milliseconds = z.int().min(0);
export const Rate = z.number().min(0).max(1).meta({ description: '0 to 1, 4 decimals.' });
export const Ratio = z.number().min(0).meta({ description: 'Per session, 2 decimals.' });
export const Timestamp = z.string().meta({
  description: 'ISO 8601, UTC, with milliseconds.',
  example: '2026-11-20T07:16:00.000Z',
  override: { format: 'date-time' },
});
/** One value per hour of the day, 00 first. */
export const HourCounts = z.array(Count).length(24);
