/** A place on the map, with a value that sets the size of its circle. */
export interface Place {
  readonly key: string;
  readonly longitude: number;
  readonly latitude: number;
  readonly value: number;
}

/** The frame of a map that shows most of the visits is at least this wide, in degrees. */
const LEAST_WIDTH = 14;
const LEAST_HEIGHT = 9;
/** Places with this share of all visits are in the frame. */
const SHARE = 0.8;

export interface Frame {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The part of the world in which most visits are; null without visits. The largest places count first. */
export function frameOf(places: readonly Place[]): Frame | null {
  const largest = [...places].sort((a, b) => b.value - a.value);
  const total = places.reduce((sum, { value }) => sum + value, 0);
  const chosen: Place[] = [];
  let seen = 0;
  for (const place of largest) {
    if (seen >= total * SHARE) break;
    chosen.push(place);
    seen += place.value;
  }
  if (chosen.length === 0) return null;
  const longitudes = widened(
    chosen.map(({ longitude }) => longitude),
    LEAST_WIDTH,
    180,
  );
  const latitudes = widened(
    chosen.map(({ latitude }) => latitude),
    LEAST_HEIGHT,
    85,
  );
  return { west: longitudes.low, east: longitudes.high, south: latitudes.low, north: latitudes.high };
}

/** The span of values with a margin, and at least `least` wide. */
function widened(
  values: readonly number[],
  least: number,
  limit: number,
): { readonly low: number; readonly high: number } {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = Math.max((high - low) * 0.15, (least - (high - low)) / 2);
  return { low: Math.max(-limit, low - margin), high: Math.min(limit, high + margin) };
}
