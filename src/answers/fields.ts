import { z } from 'zod';
import { byName } from '../domain/by-name.ts';
import { FIGURES, type FigureName, UNITS, type Unit } from './figures.ts';

/** The declared figure behind each number of an answer. */
export const figures = z.registry<{ readonly figure: FigureName; readonly unit: Unit }>();

const SCHEMAS: { readonly [Name in Unit]: z.ZodNumber } = {
  count: z.int().min(0),
  milliseconds: z.int().min(0),
  rate: z.number().min(0).max(1),
  average: z.number().min(0),
  percent: z.number(),
};

/** Makes the schema of a figure, with its meaning and its unit as the description. */
export function figure(name: FigureName): z.ZodNumber {
  const { meaning, unit } = FIGURES[name];
  const { text } = UNITS[unit];
  const description = text === '' ? meaning : `${meaning} ${text}`;
  return SCHEMAS[unit].meta({ description }).register(figures, { figure: name, unit });
}

/** Makes the schema of a difference of two values of a figure, or of its change in percent. */
export function change(name: FigureName, unit: Unit): z.ZodNumber {
  const description = unit === 'percent' ? UNITS.percent.text : 'Current minus previous.';
  return z.number().meta({ description }).register(figures, { figure: name, unit });
}

/** Makes an object with the schema of each named figure. */
export const figuresOf = <Name extends FigureName>(names: readonly Name[]): Record<Name, z.ZodNumber> =>
  byName(names, figure);

export const Timestamp = z.string().meta({
  description: 'ISO 8601, UTC, with milliseconds.',
  example: '2026-11-20T07:16:00.000Z',
  override: { format: 'date-time' },
});
/** One value per hour of the day, 00 first. */
export const hourly = (name: FigureName): z.ZodArray<z.ZodNumber> => z.array(figure(name)).length(24);

/** A calendar day. */
export const Day = z.string().meta({ override: { format: 'date' } });

/** The first 10 items of a list. */
export const top = <Item extends z.ZodType>(item: Item): z.ZodArray<Item> => z.array(item).max(10);
