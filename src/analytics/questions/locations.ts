import { sql } from '../../clickhouse/sql.ts';
import type { OpenRange } from '../../domain/time.ts';
import { readPlace } from '../../facts/sql/place.ts';
import { descending, nullsLast } from '../answers/order.ts';
import type { Location } from '../answers/results.ts';
import { type AppFacts, closed, type SessionFacts } from '../input/app-facts.ts';
import { Ranked, type Ranking } from '../memory/ranked.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { asOne } from '../range/grid.ts';
import { type Plan, plan } from '../range/plan.ts';
import { inGrains, isEmpty } from '../range/sql.ts';
import { edgesOf, singlesOf } from '../sessions/count.ts';
import { PLACES } from '../sessions/singles.ts';

const RANKING: Ranking<Location> = {
  keyOf: ({ country, region, city, latitude, longitude }) =>
    JSON.stringify([country, region, city, latitude, longitude]),
  add: (a, b) => ({ ...a, count: a.count + b.count }),
  order: (a, b) =>
    descending(a.count, b.count) ||
    nullsLast(a.country, b.country) ||
    nullsLast(a.region, b.region) ||
    nullsLast(a.city, b.city) ||
    a.latitude - b.latitude ||
    a.longitude - b.longitude,
};

const orNull = (text: string): string | null => (text === '' ? null : text);

function locationOf([text, count = 0]: Row): Location {
  const { country, region, city, latitude, longitude } = readPlace(text);
  return { country: orNull(country), region: orNull(region), city: orNull(city), latitude, longitude, count };
}

export async function locations(
  facts: AppFacts,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Location[]> {
  const session = facts.sessions;
  const pieces = plan(closed(range), session.until);
  const [sealed, singles] = await Promise.all([
    sealedPlaces(session, pieces),
    singlesOf(session, PLACES, asOne(pieces.range), edgesOf(session, PLACES, [pieces])),
  ]);
  return sealed.with(singles.map(locationOf)).first({ limit, isListed: ({ count }) => count > 0 });
}

async function sealedPlaces({ db, where, cache }: SessionFacts, pieces: Plan): Promise<Ranked<Location>> {
  if (isEmpty(pieces.sealed)) return new Ranked([], RANKING);
  const statement = sql`SELECT place, sum(p.sessions) AS count FROM session_places AS p
WHERE ${where} AND ${inGrains([pieces])} GROUP BY place`;
  return cache.recall(
    statement,
    async () => {
      const rows = await db.rows({ name: 'locations', sql: statement, row: ROW });
      return new Ranked(rows.map(locationOf).sort(RANKING.order), RANKING);
    },
    ({ size }) => size * 5,
  );
}
