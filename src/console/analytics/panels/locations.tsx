import { SegmentedControl, Tabs } from '@mantine/core';
import { useEffect, useState } from 'react';
import { frameOf, type Place } from '../../chart/places.ts';
import { type Country, loadCountries } from '../../chart/world.ts';
import { WorldMap } from '../../chart/world-map.tsx';
import { ErrorState, LoadingState } from '../../states.tsx';
import { useAnalytics } from '../context.ts';
import { keyOf, listOf } from '../lists.ts';
import { type MapFrame, TABS } from '../view/view.ts';
import { useWords } from '../words.ts';
import type { ListedRow } from './list-csv.ts';
import { ListPanel } from './list-panel.tsx';

/** The places of the sessions, as a map and a list; or the countries. */
export function Locations() {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const id = view.tabs.places;
  return (
    <ListPanel
      key={id}
      list={listOf(id)}
      title={text.groups.places}
      controls={
        <Tabs
          value={id}
          onChange={(places) => change({ tabs: { ...view.tabs, places: places as typeof id } })}
          keepMounted={false}
          variant="pills"
        >
          <Tabs.List aria-label={text.groups.places}>
            {TABS.places.map((tab) => (
              <Tabs.Tab key={tab} value={tab}>
                {text.lists[tab]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
      }
      {...(id === 'locations' ? { picture: (rows) => <LocationMap rows={rows} /> } : {})}
    />
  );
}

/** How many of the largest places have their name on the map. */
const NAMED = 5;

function LocationMap({ rows }: { readonly rows: readonly ListedRow[] }) {
  const { text, format, figure, name } = useWords();
  const { isRtl, view, change } = useAnalytics();
  const isNear = view.map === 'places';
  const [world, setWorld] = useState<readonly Country[] | Error | null>(null);
  useEffect(() => {
    loadCountries().then(setWorld, (error: unknown) =>
      setWorld(error instanceof Error ? error : new Error(String(error))),
    );
  }, []);
  if (world === null) return <LoadingState lines={8} />;
  if (world instanceof Error) return <ErrorState error={world} />;
  if (rows.length === 0) return null;
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  const places: Place[] = rows.map((row) => ({
    key: keyOf(row),
    latitude: row.at?.[0] ?? 0,
    longitude: row.at?.[1] ?? 0,
    value: row.values[0] ?? 0,
  }));
  const titleOf = ({ key }: Place): string => {
    const [city, region, country] = byKey.get(key)?.names ?? [];
    const place = city ?? region;
    return place === null || place === undefined ? name('country', country ?? null) : name('place', place);
  };
  const describe = ({ key, value }: Place): string => {
    const { names, before } = byKey.get(key) ?? { names: [] };
    const now = `${name('country', names[2] ?? null)}: ${figure('sessionsListed', value)}`;
    const previous = before?.[0];
    return previous === undefined || previous === null
      ? now
      : `${now}. ${text.before}: ${figure('sessionsListed', previous)}`;
  };
  const [first] = places;
  return (
    <div className="map-frame">
      <WorldMap
        label={text.mapLabel(format.number(places.length), first === undefined ? '' : titleOf(first))}
        countries={world}
        places={places}
        frame={isNear ? frameOf(places) : null}
        titleOf={titleOf}
        describe={describe}
        named={isNear ? NAMED : 0}
      />
      <div className="map-controls" dir={isRtl ? 'rtl' : 'ltr'}>
        <SegmentedControl
          size="xs"
          aria-label={text.mapFrame}
          value={view.map}
          onChange={(map) => change({ map: map as MapFrame })}
          data={[
            { value: 'places', label: text.mapNear },
            { value: 'world', label: text.mapWorld },
          ]}
        />
        <span className="hint">{text.mapNote}</span>
      </div>
    </div>
  );
}
