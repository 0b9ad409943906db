import { csvOf } from '../view/csv.ts';

const HOURS = Array.from({ length: 24 }, (_, i) => i);

interface HoursRow {
  readonly key: string;
  readonly values: readonly (number | null)[];
}

/** A day for each row, an hour for each column. */
export const csvOfHours = (first: string, rows: readonly HoursRow[]): string =>
  csvOf(
    [first, ...HOURS.map((hour) => String(hour).padStart(2, '0'))],
    rows.map(({ key, values }) => [key, ...values]),
  );
