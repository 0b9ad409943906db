import { useElementSize } from '@mantine/hooks';
import { NaturalEarth } from '@visx/geo';
import { scaleSqrt } from '@visx/scale';
import { memo, useState } from 'react';
import type { Frame, Place } from './places.ts';
import { Tip } from './tip.tsx';
import type { Country } from './world.ts';

export interface WorldMapProps {
  /** The text that a screen reader says instead of the picture. */
  readonly label: string;
  readonly countries: readonly Country[];
  readonly places: readonly Place[];
  /** The part that is shown; null for the whole world. */
  readonly frame: Frame | null;
  /** How many of the largest places have their name beside them. */
  readonly named: number;
  readonly titleOf: (place: Place) => string;
  readonly describe: (place: Place) => string;
}

/** A place in pixels. */
interface Spot {
  readonly place: Place;
  readonly x: number;
  readonly y: number;
}

const WORLD: Frame = { west: -170, south: -56, east: 180, north: 80 };
const LARGEST = 26;
/** The room that a name needs, and each of its letters. */
const NAME_HEIGHT = 16;
const LETTER = 7.5;

/** The world with a circle for each place; its area is the value. */
export function WorldMap({ label, titleOf, describe, ...drawn }: WorldMapProps) {
  const { ref, width } = useElementSize();
  const [tip, setTip] = useState<Spot | null>(null);
  const height = Math.round(Math.min(460, Math.max(220, width * 0.52)));
  return (
    <div ref={ref} className="plot">
      {width > 0 && (
        <svg
          className="map"
          role="img"
          aria-label={label}
          width={width}
          viewBox={`0 0 ${width} ${height}`}
          height={height}
          onPointerLeave={() => setTip(null)}
        >
          <Drawn {...drawn} width={width} height={height} titleOf={titleOf} onSeek={setTip} />
        </svg>
      )}
      {tip !== null && (
        <Tip x={tip.x} y={Math.min(tip.y, height - 60)} width={width} title={titleOf(tip.place)}>
          <div>{describe(tip.place)}</div>
        </Tip>
      )}
    </div>
  );
}

interface DrawnProps extends Pick<WorldMapProps, 'countries' | 'places' | 'frame' | 'named' | 'titleOf'> {
  readonly width: number;
  readonly height: number;
  readonly onSeek: (spot: Spot) => void;
}

/** Is not drawn again when the pointer moves. */
const Drawn = memo(function Drawn(props: DrawnProps) {
  const { countries, places, frame, named, titleOf, width, height, onSeek } = props;
  const most = Math.max(1, ...places.map(({ value }) => value));
  const radius = scaleSqrt({ domain: [0, most], range: [2.5, Math.min(LARGEST, width / 18)] });
  const largestFirst = [...places].sort((a, b) => b.value - a.value);
  return (
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
      {({ features, projection }) => {
        const spots = largestFirst.map((place): Spot => {
          const [x = 0, y = 0] = projection([place.longitude, place.latitude]) ?? [];
          return { place, x, y };
        });
        return (
          <>
            {features.map(({ path }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: some countries have no id.
              <path key={i} d={path ?? ''} className="map-country" />
            ))}
            {spots.map((spot) => (
              <circle
                key={spot.place.key}
                className="map-place"
                cx={spot.x}
                cy={spot.y}
                r={radius(spot.place.value)}
                onPointerEnter={() => onSeek(spot)}
                onPointerDown={() => onSeek(spot)}
              />
            ))}
            {withRoom(spots, {
              named,
              radius: ({ place }) => radius(place.value),
              titleOf,
              width,
            }).map(({ place, x, y }) => (
              <text key={place.key} className="map-name" x={x} y={y} dy="0.35em" textAnchor="middle">
                {titleOf(place)}
              </text>
            ))}
          </>
        );
      }}
    </NaturalEarth>
  );
}, areSamePictures);

/** The names change with the places and with the language, which is a new page. */
function areSamePictures(a: DrawnProps, b: DrawnProps): boolean {
  return (
    a.countries === b.countries &&
    a.width === b.width &&
    a.named === b.named &&
    JSON.stringify([a.frame, a.places]) === JSON.stringify([b.frame, b.places])
  );
}

/** A name's middle and its width, in pixels. */
interface Label extends Spot {
  readonly width: number;
}

/**
 * Puts names above, below or beside their circles. Leaves out those that would lie on another name, on another circle, or
 * over the edge.
 */
function withRoom(spots: readonly Spot[], { named, radius, titleOf, width }: Room): readonly Label[] {
  const taken: Label[] = [];
  for (const spot of spots.slice(0, named)) {
    const own = radius(spot);
    const wide = titleOf(spot.place).length * LETTER + 8;
    const beside = own + wide / 2 + 2;
    const places = [
      [0, -own - 10],
      [0, own + 10],
      [beside, 0],
      [-beside, 0],
    ].map(([dx = 0, dy = 0]): Label => ({ ...spot, x: spot.x + dx, y: spot.y + dy, width: wide }));
    const free = places.find(
      (label) =>
        label.x - wide / 2 > 0 &&
        label.x + wide / 2 < width &&
        taken.every((other) => !areOver(label, other)) &&
        spots.every((other) => other === spot || !isOver(label, other, radius(other))),
    );
    if (free !== undefined) taken.push(free);
  }
  return taken;
}

interface Room {
  readonly named: number;
  readonly radius: (spot: Spot) => number;
  readonly titleOf: (place: Place) => string;
  /** Of the map. */
  readonly width: number;
}

const areOver = (a: Label, b: Label): boolean =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < NAME_HEIGHT;

/** Whether a name lies on a circle. */
function isOver({ x, y, width }: Label, circle: Spot, radius: number): boolean {
  const dx = Math.max(0, Math.abs(circle.x - x) - width / 2);
  const dy = Math.max(0, Math.abs(circle.y - y) - NAME_HEIGHT / 2);
  return Math.hypot(dx, dy) < radius;
}

/** Points of the frame. They are no polygon, because the inside of one on a globe can be the other part. */
function outlineOf({ west, south, east, north }: Frame) {
  const coordinates = [west, (west + east) / 2, east].flatMap((longitude) => [
    [longitude, south],
    [longitude, (south + north) / 2],
    [longitude, north],
  ]);
  return { type: 'Feature', properties: {}, geometry: { type: 'MultiPoint', coordinates } };
}
