import { useElementSize } from '@mantine/hooks';
import { NaturalEarth } from '@visx/geo';
import { scaleSqrt } from '@visx/scale';
import { useState } from 'react';
import type { Frame, Place } from './places.ts';
import { Tip } from './tip.tsx';
import type { Country } from './world.ts';

export interface WorldMapProps {
  /** What a screen reader says instead of the picture. */
  readonly label: string;
  readonly countries: readonly Country[];
  readonly places: readonly Place[];
  /** What is shown; null for the whole world. */
  readonly frame: Frame | null;
  readonly titleOf: (place: Place) => string;
  readonly describe: (place: Place) => string;
  /** How many of the largest places have their name beside them. */
  readonly named: number;
}

const LARGEST = 26;
/** The room that a name needs. */
const NAME_WIDTH = 64;
const NAME_HEIGHT = 16;
const WORLD: Frame = { west: -170, south: -56, east: 180, north: 80 };

/** The world with a circle for each place; its area is the value. */
export function WorldMap({ label, countries, places, frame, titleOf, describe, named }: WorldMapProps) {
  const { ref, width } = useElementSize();
  const [at, setAt] = useState<{ readonly place: Place; readonly x: number; readonly y: number } | null>(
    null,
  );
  const height = Math.round(Math.min(460, Math.max(220, width * 0.52)));
  const most = Math.max(1, ...places.map(({ value }) => value));
  const radius = scaleSqrt({ domain: [0, most], range: [2.5, Math.min(LARGEST, width / 18)] });
  const largestFirst = [...places].sort((a, b) => b.value - a.value);
  /** Where names stand already. */
  const taken: { readonly x: number; readonly y: number }[] = [];
  const hasRoom = (x: number, y: number): boolean => {
    const isFree = taken.every(
      (name) => Math.abs(name.x - x) > NAME_WIDTH || Math.abs(name.y - y) > NAME_HEIGHT,
    );
    if (isFree) taken.push({ x, y });
    return isFree;
  };
  return (
    <div ref={ref} className="plot">
      {width > 0 && (
        <svg
          className="map"
          role="img"
          aria-label={label}
          width={width}
          height={height}
          onPointerLeave={() => setAt(null)}
        >
          <NaturalEarth
            data={[...countries]}
            fitExtent={
              [
                [
                  [0, 0],
                  [width, height],
                ],
                outlineOf(frame ?? WORLD),
              ] as never
            }
          >
            {({ features, projection }) => (
              <>
                {features.map(({ path, feature }) => (
                  <path key={feature.id} d={path ?? ''} className="map-country" />
                ))}
                {largestFirst.map((place, rank) => {
                  const [x = 0, y = 0] = projection([place.longitude, place.latitude]) ?? [];
                  return (
                    <g key={place.key}>
                      <circle
                        className="map-place"
                        cx={x}
                        cy={y}
                        r={radius(place.value)}
                        onPointerEnter={() => setAt({ place, x, y })}
                        onPointerDown={() => setAt({ place, x, y })}
                      />
                      {rank < named && hasRoom(x, y - radius(place.value)) && (
                        <text className="map-name" x={x} y={y - radius(place.value) - 4} textAnchor="middle">
                          {titleOf(place)}
                        </text>
                      )}
                    </g>
                  );
                })}
              </>
            )}
          </NaturalEarth>
        </svg>
      )}
      {at !== null && (
        <Tip x={at.x} y={Math.min(at.y, height - 60)} width={width} title={titleOf(at.place)}>
          <div>{describe(at.place)}</div>
        </Tip>
      )}
    </div>
  );
}

/** Points around the frame. They are no polygon, because the inside of one on a globe can be the other part. */
function outlineOf({ west, south, east, north }: Frame) {
  const middle = (west + east) / 2;
  const coordinates = [west, middle, east].flatMap((longitude) => [
    [longitude, south],
    [longitude, (south + north) / 2],
    [longitude, north],
  ]);
  return { type: 'Feature', properties: {}, geometry: { type: 'MultiPoint', coordinates } };
}
