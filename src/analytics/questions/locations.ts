import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed, type Facts } from '../ask.ts';
import { HAS_PLACE, mergedSessions } from '../merged-sessions.ts';
import { type Plan, plan, spanOf } from '../plan.ts';
import type { Location } from '../results.ts';
import { edgeRanges, inGrains, inMs, int, isEmpty, ofApp } from '../sql.ts';
import { countedIn, cutHours, fromHoursOr, instantsByKey } from './cut-hours.ts';
import { descending, nullsLast } from './order.ts';
import { Ranked, type Ranking, take } from './ranked.ts';

const PLACE = 'country, region, city, latitude, longitude';
const PLACE_COLUMNS = [z.string(), z.string(), z.string(), z.number(), z.number()] as const;
const PLACE_ROW = z.tuple(PLACE_COLUMNS);
const ROW = z.tuple([...PLACE_COLUMNS, z.number()]);

const orNull = (text: string): string | null => (text === '' ? null : text);

const ORDER = (a: Location, b: Location): number =>
  descending(a.count, b.count) ||
  nullsLast(a.country, b.country) ||
  nullsLast(a.region, b.region) ||
  nullsLast(a.city, b.city) ||
  a.latitude - b.latitude ||
  a.longitude - b.longitude;

const PLACES: Ranking<Location> = {
  keyOf: ({ country, region, city, latitude, longitude }) =>
    JSON.stringify([country, region, city, latitude, longitude]),
  add: (a, b) => ({ ...a, count: a.count + b.count }),
  order: ORDER,
};

const placeOf = ([country, region, city, latitude, longitude, count]: z.infer<typeof ROW>): Location => ({
  country: orNull(country),
  region: orNull(region),
  city: orNull(city),
  latitude,
  longitude,
  count,
});

export async function locations(
  { db, facts }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Location[]> {
  const { session } = await facts(app);
  const pieces = plan(closed(range), session.until);
  const [sealed, edges, tail] = await Promise.all([
    sealedPlaces(db, session, app, pieces),
    edgePlaces(db, session, app, pieces),
    tailPlaces(db, session, pieces),
  ]);
  return [...take(limit, sealed.with([...edges, ...tail].map(placeOf)))];
}

async function sealedPlaces(db: Database, facts: Facts, app: AppId, pieces: Plan): Promise<Ranked<Location>> {
  if (isEmpty(pieces.sealed)) return new Ranked<Location>([], PLACES);
  const query = {
    name: 'locations',
    sql: `SELECT ${PLACE}, sum(p.sessions) AS count FROM session_places AS p
WHERE ${ofApp(app)} AND ${inGrains([pieces])} GROUP BY ${PLACE}`,
    row: ROW,
  };
  return facts.recallMade(
    query,
    () => db.rows(query),
    (rows) => new Ranked(rows.map(placeOf).sort(ORDER), PLACES),
  );
}

async function edgePlaces(db: Database, facts: Facts, app: AppId, pieces: Plan) {
  const edges = edgeRanges(pieces);
  if (edges.length === 0) return [];
  const query = {
    name: 'location edges',
    sql: `SELECT ${PLACE}, count() AS count FROM session_facts
WHERE ${ofApp(app)} AND ${inMs('started_at', edges.map(spanOf))} AND ${HAS_PLACE} GROUP BY ${PLACE}`,
    row: ROW,
  };
  const load = fromHoursOr(
    async () => {
      const cut = await cutHours(db, facts, edges.map(spanOf), placesOfHour(app));
      return cut?.flatMap(countedIn).map(([place, count]): z.infer<typeof ROW> => [...place, count]) ?? null;
    },
    () => db.rows(query),
  );
  return facts.recall(query, load, 'when repeated');
}

const placesOfHour = (app: AppId) =>
  instantsByKey(
    'location hour',
    PLACE_ROW,
    (hour) => `SELECT (${PLACE}), groupArray(toUInt32(started_at - ${int(hour.start)})) FROM session_facts
WHERE ${ofApp(app)} AND ${inMs('started_at', [hour])} AND ${HAS_PLACE} GROUP BY ${PLACE}`,
  );

async function tailPlaces(db: Database, facts: Facts, { tail }: Plan) {
  if (tail === null) return [];
  return db.rows(
    {
      name: 'location tail',
      sql: `SELECT ${PLACE}, count() AS count
FROM (${mergedSessions(facts, tail, ['country', 'region', 'city', 'latitude', 'longitude'])}) WHERE ${HAS_PLACE}
GROUP BY ${PLACE}`,
      row: ROW,
    },
    { parallel: true },
  );
}
