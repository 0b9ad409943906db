import { z } from 'zod';

/*
 * Where a session was, as one text: a table of sessions has a few thousand of them and keeps each once. Words hold no control characters,
 * so that one can stand between them.
 */

const SEPARATOR = '\\x1f';

/** SQL of the text: '' for a session without coordinates. -999 marks absence; (0, 0) is what broken devices send. */
export const placeText = (
  country: string,
  region: string,
  city: string,
  latitude: string,
  longitude: string,
): string =>
  `if(${latitude} >= -90 AND ${longitude} >= -180 AND NOT (${latitude} = 0 AND ${longitude} = 0),
        arrayStringConcat([${country}, ${region}, ${city}, toString(${latitude} + 0.), toString(${longitude} + 0.)], '${SEPARATOR}'), '')`;

export interface Place {
  /** '' for none, here and below. */
  readonly country: string;
  readonly region: string;
  readonly city: string;
  readonly latitude: number;
  readonly longitude: number;
}

const WORDS = z.tuple([z.string(), z.string(), z.string(), z.coerce.number(), z.coerce.number()]);

/** Reads the text of a session that was somewhere. */
export function readPlace(text: string): Place {
  const [country, region, city, latitude, longitude] = WORDS.parse(text.split('\x1f'));
  return { country, region, city, latitude, longitude };
}
