import { z } from 'zod';
import type { Endpoint } from '../../endpoints/endpoint.ts';

/** A column of a list. */
export interface Column {
  readonly name: string;
  /** `Date32` is a day; in JSON it is `YYYY-MM-DD`. */
  readonly type: 'String' | 'Int64' | 'Float64' | 'Date32';
  readonly nullable: boolean;
}

/** Returns the columns of an analytics endpoint that answers a list of flat items; null for any other. */
export function columnsOf(endpoint: Endpoint): readonly Column[] | null {
  const { response } = endpoint;
  if (!('question' in endpoint) || !(response instanceof z.ZodArray)) return null;
  const item: unknown = response.element;
  if (!(item instanceof z.ZodObject)) throw new Error('a list of something else than objects');
  return Object.entries(item.shape).map(([name, schema]) => column(name, schema as z.ZodType));
}

function column(name: string, schema: z.ZodType): Column {
  if (schema instanceof z.ZodNullable) {
    return { ...column(name, schema.unwrap() as z.ZodType), nullable: true };
  }
  return { name, type: typeOf(schema), nullable: false };
}

function typeOf(schema: z.ZodType): Column['type'] {
  if (schema instanceof z.ZodNumber) return schema.isInt ? 'Int64' : 'Float64';
  if (!(schema instanceof z.ZodString)) throw new Error('a column of something else than text and numbers');
  const { override } = schema.meta() ?? {};
  return typeof override === 'object' &&
    override !== null &&
    'format' in override &&
    override.format === 'date'
    ? 'Date32'
    : 'String';
}
