import type { Location } from '../../answers/rows.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { OpenRange } from '../../domain/time.ts';
import { readPlace } from '../../facts/sql/place.ts';
import { descending, nullsLast } from '../answers/order.ts';
import { type AppFacts, closed, type SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { asOne } from '../range/grid.ts';
import { type Plan, plan } from '../range/plan.ts';
import { inGrains, isEmpty } from '../range/sql.ts';
import { countSessions, edgesOf } from '../sessions/count.ts';
import { countMatching } from '../sessions/matching.ts';
import { PLACES } from '../sessions/measures.ts';

const ORDER = (a: Location, b: Location): number =>
  descending(a.count, b.count) ||
  nullsLast(a.country, b.country) ||
  nullsLast(a.region, b.region) ||
  nullsLast(a.city, b.city) ||
  a.latitude - b.latitude ||
  a.longitude - b.longitude;

const orNull = (text: string): string | null => (text === '' ? null : text);

export async function locations(
  facts: AppFacts,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Location[]> {
  const rows = await (facts.segment === null
    ? allPlaces(facts.sessions, range)
    : countMatching(facts, PLACES, asOne(closed(range))));
  return [...sumByKey(rows)]
    .filter(([, [count = 0]]) => count > 0)
    .map(([text, [count = 0]]): Location => {
      const { country, region, city, latitude, longitude } = readPlace(text);
      return {
        country: orNull(country),
        region: orNull(region),
        city: orNull(city),
        latitude,
        longitude,
        count,
      };
    })
    .sort(ORDER)
    .slice(0, limit);
}

async function allPlaces(facts: SessionFacts, range: OpenRange): Promise<Row[]> {
  const pieces = plan(closed(range), facts.until);
  const rows = await Promise.all([
    sealedPlaces(facts, pieces),
    countSessions(facts, PLACES, asOne(pieces.range), edgesOf([pieces])),
  ]);
  return rows.flat();
}

async function sealedPlaces({ db, where, cache }: SessionFacts, pieces: Plan): Promise<readonly Row[]> {
  if (isEmpty(pieces.sealed)) return [];
  const statement = sql`SELECT place, sum(p.sessions) FROM session_places AS p
WHERE ${where} AND ${inGrains([pieces])} GROUP BY place`;
  return keptRows(db, cache, 'locations', statement);
}
