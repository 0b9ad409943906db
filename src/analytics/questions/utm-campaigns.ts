import { z } from 'zod';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, type OpenRange, type Range } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import { mergedSessions, type SessionColumn, VISITOR_HASH } from '../merged-sessions.ts';
import { type Plan, plan } from '../plan.ts';
import type { UtmCampaign } from '../results.ts';
import { Bindings, isEmpty, unionAll } from '../sql.ts';
import { sealedPart } from './visitors.ts';

const ROW = z.object({
  source: z.string(),
  medium: z.string().nullable(),
  campaign: z.string().nullable(),
  term: z.string().nullable(),
  content: z.string().nullable(),
  sessions: z.number(),
  visitors: z.number(),
});

const UTM_COLUMNS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
] as const satisfies SessionColumn[];
const UTM = UTM_COLUMNS.join(', ');
const LOW_CARDINALITY = UTM_COLUMNS.map((part) => `toLowCardinality(${part}) AS ${part}`).join(', ');

export async function utmCampaigns(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
): Promise<UtmCampaign[]> {
  const bind = new Bindings({ app });
  const pieces = plan(closed(range), (await watermarks(app)).session);
  const edges = [pieces.left, pieces.right].filter((piece) => piece !== null);
  const rows = unionAll(
    [
      isEmpty(pieces.sealed)
        ? null
        : `SELECT ${UTM}, toInt64(u.sessions) AS sessions, toInt64(u.sessions) AS visitors FROM utm_sums AS u
WHERE app_id = {app:UUID} AND ${bind.inGrains([pieces])}`,
      edges.length === 0 ? null : merged(bind, edges, 'count()', UTM_COLUMNS),
      isEmpty(sealedPart(pieces)) ? null : returning(bind, pieces),
      pieces.tail &&
        merged(bind, [pieces.tail], `uniqExact(${VISITOR_HASH})`, [...UTM_COLUMNS, 'visitor_id']),
      pieces.tail && !isEmpty(sealedPart(pieces)) ? tailReturning(bind, pieces, pieces.tail) : null,
    ],
    '',
  );
  const sql = `SELECT toString(utm_source) AS source, nullIf(toString(utm_medium), '') AS medium, nullIf(toString(utm_campaign), '') AS campaign,
    nullIf(toString(utm_term), '') AS term, nullIf(toString(utm_content), '') AS content,
    sum(r.sessions) AS sessions, sum(r.visitors) AS visitors
FROM (${rows}) AS r
GROUP BY ${UTM}
ORDER BY sessions DESC, source, medium NULLS LAST, campaign NULLS LAST, term NULLS LAST, content NULLS LAST
LIMIT 100`;
  return db.query({ name: 'utm campaigns', sql, row: ROW }, bind.params, { parallel: pieces.tail !== null });
}

const merged = (
  bind: Bindings,
  ranges: readonly Range[],
  visitors: string,
  columns: readonly SessionColumn[],
): string => `
SELECT ${LOW_CARDINALITY}, toInt64(count()) AS sessions, toInt64(${visitors}) AS visitors
FROM (${mergedSessions(bind, ranges, columns)}) WHERE utm_source != ''
GROUP BY ${UTM}`;

/** Sealed sessions with an earlier one of the same visitor and combination in the range, as negative visitors. */
function returning(bind: Bindings, pieces: Plan): string {
  const { start, end } = sealedPart(pieces);
  const firstDay = Math.ceil(start / DAY_MS) * DAY_MS;
  const lastDay = Math.floor(end / DAY_MS) * DAY_MS;
  const facts = (from: number, prevFrom: number) => `
SELECT ${UTM}, toInt64(0) AS sessions, toInt64(-1) AS visitors FROM utm_facts
WHERE app_id = {app:UUID} AND started_at >= ${bind.int(from)} AND started_at < ${bind.int(end)} AND prev >= ${bind.int(prevFrom)}`;
  if (firstDay >= lastDay) return facts(start, start);
  return unionAll(
    [
      `SELECT ${UTM}, toInt64(0) AS sessions, -toInt64(p.sessions) AS visitors FROM utm_return_pairs AS p
WHERE app_id = {app:UUID} AND ${bind.inSpans('day', [{ start: firstDay, end: lastDay }])} AND prev_day >= ${bind.bucket(firstDay)}`,
      `SELECT ${UTM}, toInt64(0) AS sessions, toInt64(-1) AS visitors FROM utm_returns
WHERE app_id = {app:UUID} AND prev >= ${bind.int(start)} AND prev < ${bind.int(firstDay)} AND started_at < ${bind.int(end)}`,
      lastDay < end ? facts(lastDay, firstDay) : null,
    ],
    '',
  );
}

/** The tail's visitors that came by the same combination in the sealed part of the range. */
const tailReturning = (bind: Bindings, pieces: Plan, tail: Range): string => `
SELECT ${UTM}, toInt64(0) AS sessions, -toInt64(uniqExact(visitor)) AS visitors FROM utm_facts
WHERE app_id = {app:UUID} AND started_at >= ${bind.int(pieces.range.from)} AND started_at < ${bind.int(tail.from)}
    AND (visitor, ${UTM}) IN (
        SELECT ${VISITOR_HASH}, ${UTM} FROM (${mergedSessions(bind, [tail], [...UTM_COLUMNS, 'visitor_id'])}) WHERE utm_source != '')
GROUP BY ${UTM}`;
