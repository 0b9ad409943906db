import { z } from 'zod';
import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import { HAS_PLACE, mergedSessions } from '../merged-sessions.ts';
import { type Plan, plan } from '../plan.ts';
import type { Location } from '../results.ts';
import { edgeRanges, inGrains, inMs, isEmpty, ofApp, spanOf } from '../sql.ts';
import { descending, nullsLast } from './order.ts';

const PLACE = 'country, region, city, latitude, longitude';
const ROW = z.tuple([z.string(), z.string(), z.string(), z.number(), z.number(), z.number()]);

/** Sums by place of each piece of the range: a place can stand in several of them. */
function pieces({ db }: Pick<Asker, 'db'>, app: AppId, plan: Plan) {
  const edges = edgeRanges(plan);
  const { tail } = plan;
  return Promise.all([
    isEmpty(plan.sealed)
      ? []
      : db.rows({
          name: 'locations',
          sql: `SELECT ${PLACE}, sum(p.sessions) AS count FROM session_places AS p
WHERE ${ofApp(app)} AND ${inGrains([plan])} GROUP BY ${PLACE}`,
          row: ROW,
        }),
    edges.length === 0
      ? []
      : db.rows({
          name: 'location edges',
          sql: `SELECT ${PLACE}, count() AS count FROM session_facts
WHERE ${ofApp(app)} AND ${inMs('started_at', edges.map(spanOf))} AND ${HAS_PLACE} GROUP BY ${PLACE}`,
          row: ROW,
        }),
    tail === null
      ? []
      : db.rows(
          {
            name: 'location tail',
            sql: `SELECT ${PLACE}, count() AS count
FROM (${mergedSessions(app, [tail], ['country', 'region', 'city', 'latitude', 'longitude'])}) WHERE ${HAS_PLACE}
GROUP BY ${PLACE}`,
            row: ROW,
          },
          { parallel: true },
        ),
  ]);
}

const orNull = (text: string): string | null => (text === '' ? null : text);

const ORDER = (a: Location, b: Location): number =>
  descending(a.count, b.count) ||
  nullsLast(a.country, b.country) ||
  nullsLast(a.region, b.region) ||
  nullsLast(a.city, b.city) ||
  a.latitude - b.latitude ||
  a.longitude - b.longitude;

export async function locations(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Location[]> {
  const { session } = await watermarks(app);
  const counts = new Map<string, Location>();
  for (const [country, region, city, latitude, longitude, count] of (
    await pieces({ db }, app, plan(closed(range), session))
  ).flat()) {
    const key = JSON.stringify([country, region, city, latitude, longitude]);
    counts.set(key, {
      country: orNull(country),
      region: orNull(region),
      city: orNull(city),
      latitude,
      longitude,
      count: count + (counts.get(key)?.count ?? 0),
    });
  }
  return [...counts.values()].sort(ORDER).slice(0, limit);
}
