import { z } from 'zod';
import { type Sql, sql } from '../../clickhouse/sql.ts';

/*
 * The place of a session as one text. A table of sessions has a few thousand distinct places, and a
 * LowCardinality column stores each once. Words hold no control characters, so one can separate them.
 */

const SEPARATOR = sql`'\\x1f'`;

/** SQL of the text: '' for a session without coordinates. -999 marks absence; broken devices send (0, 0). */
export const placeText = (country: Sql, region: Sql, city: Sql, latitude: Sql, longitude: Sql): Sql =>
  sql`if(${latitude} >= -90 AND ${longitude} >= -180 AND NOT (${latitude} = 0 AND ${longitude} = 0),
        arrayStringConcat([${country}, ${region}, ${city}, toString(${latitude} + 0.), toString(${longitude} + 0.)], ${SEPARATOR}), '')`;

export interface Place {
  /** '' for none, also in `region` and `city`. */
  readonly country: string;
  readonly region: string;
  readonly city: string;
  readonly latitude: number;
  readonly longitude: number;
}

const WORDS = z.tuple([z.string(), z.string(), z.string(), z.coerce.number(), z.coerce.number()]);

/** Parses the text of a session that has a place. */
export function readPlace(text: string): Place {
  const [country, region, city, latitude, longitude] = WORDS.parse(text.split('\x1f'));
  return { country, region, city, latitude, longitude };
}
