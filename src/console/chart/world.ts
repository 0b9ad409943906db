import type { Feature, Geometry } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import address from 'world-atlas/countries-110m.json?url';

/** The outline of a country. Natural Earth's data are in the public domain; world-atlas brings them in this form. */
export type Country = Feature<Geometry, { readonly name: string }>;

type World = Topology<{ readonly countries: GeometryCollection<{ readonly name: string }> }>;

let loaded: Promise<readonly Country[]> | undefined;

/** Loads the outlines from the service itself, once. */
export function loadCountries(): Promise<readonly Country[]> {
  loaded ??= fetch(address)
    .then((response) => response.json())
    .then((world: World) => feature(world, world.objects.countries).features)
    .catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
  return loaded;
}
