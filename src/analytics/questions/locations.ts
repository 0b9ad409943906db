import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { OpenRange } from '../../domain/time.ts';
import { readPlace } from '../../facts/place.ts';
import { type Asker, closed, type Facts, type SessionFacts } from '../ask.ts';
import { startedIn } from '../late.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Plan, plan, sealedPart, spanOf } from '../plan.ts';
import type { Location } from '../results.ts';
import { edgeRanges, inGrains, inMs, int, isEmpty } from '../sql.ts';
import { countedIn, cutHours, fromHoursOr, instantsByKey } from './cut-hours.ts';
import { descending, nullsLast } from './order.ts';
import { Ranked, type Ranking } from './ranked.ts';

const ROW = z.tuple([z.string(), z.number()]);

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

function locationOf([text, count]: readonly [string, number]): Location {
  const { country, region, city, latitude, longitude } = readPlace(text);
  return { country: orNull(country), region: orNull(region), city: orNull(city), latitude, longitude, count };
}

export async function locations(
  { db, facts }: Asker,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Location[]> {
  const session = await facts.sessions();
  const pieces = plan(closed(range), session.until);
  const [sealed, edges, tail, late] = await Promise.all([
    sealedPlaces(db, session, pieces),
    edgePlaces(db, session, pieces),
    tailPlaces(db, session, pieces),
    latePlaces(session, pieces),
  ]);
  const isListed = ({ count }: Location): boolean => count > 0;
  return sealed.with([...edges, ...tail, ...late].map(locationOf), { limit, isListed });
}

async function sealedPlaces(db: Database, facts: Facts, pieces: Plan): Promise<Ranked<Location>> {
  if (isEmpty(pieces.sealed)) return new Ranked<Location>([], PLACES);
  const query = {
    name: 'locations',
    sql: `SELECT place, sum(p.sessions) AS count FROM session_places AS p
WHERE ${facts.where} AND ${inGrains([pieces])} GROUP BY place`,
    row: ROW,
  };
  return facts.recallMade(
    query,
    () => db.rows(query),
    (rows) => new Ranked(rows.map(locationOf).sort(ORDER), PLACES),
  );
}

async function edgePlaces(db: Database, facts: Facts, pieces: Plan) {
  const edges = edgeRanges(pieces);
  if (edges.length === 0) return [];
  const query = {
    name: 'location edges',
    sql: `SELECT place, count() AS count FROM session_facts
WHERE ${facts.where} AND ${inMs('started_at', edges.map(spanOf))} AND place != '' GROUP BY place`,
    row: ROW,
  };
  const load = fromHoursOr(
    async () => {
      const cut = await cutHours(db, facts, edges.map(spanOf), placesOfHour(facts));
      return cut?.flatMap(countedIn) ?? null;
    },
    () => db.rows(query),
  );
  return facts.recall(query, load, 'when repeated');
}

async function latePlaces(facts: SessionFacts, pieces: Plan): Promise<(readonly [string, number])[]> {
  const { sessions } = await facts.late();
  return startedIn(sessions, sealedPart(pieces))
    .filter(({ place }) => place !== '')
    .map(({ place, sign }) => [place, sign] as const);
}

const placesOfHour = (facts: Facts) =>
  instantsByKey(
    'location hour',
    z.string(),
    (hour) => `SELECT place, groupArray(toUInt32(started_at - ${int(hour.start)})) FROM session_facts
WHERE ${facts.where} AND ${inMs('started_at', [hour])} AND place != '' GROUP BY place`,
  );

async function tailPlaces(db: Database, facts: SessionFacts, { tail }: Plan) {
  if (tail === null) return [];
  return db.rows(
    {
      name: 'location tail',
      sql: `SELECT place, count() AS count FROM (${mergedSessions(facts, tail, ['place'])}) WHERE place != '' GROUP BY place`,
      row: ROW,
    },
    { parallel: true },
  );
}
