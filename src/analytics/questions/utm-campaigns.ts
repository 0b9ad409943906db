import type { UtmCampaign } from '../../answers/rows.ts';
import { sql } from '../../clickhouse/sql.ts';
import type { OpenRange } from '../../domain/time.ts';
import { byText, descending, firstOf, nullsLast } from '../answers/order.ts';
import { type AppFacts, closed, type SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey, textsOf } from '../memory/rows.ts';
import { asOne } from '../range/grid.ts';
import { type Plan, plan } from '../range/plan.ts';
import { inGrains, isEmpty } from '../range/sql.ts';
import { countSessions, edgesOf } from '../sessions/count.ts';
import { countMatching } from '../sessions/matching.ts';
import { CAMPAIGN, CAMPAIGNS } from '../sessions/measures.ts';
import { returning } from '../sessions/returns.ts';

const MOST_LISTED = 100;

const orNull = (text = ''): string | null => (text === '' ? null : text);

const ORDER = (a: UtmCampaign, b: UtmCampaign): number =>
  descending(a.sessions, b.sessions) ||
  byText(a.source, b.source) ||
  nullsLast(a.medium, b.medium) ||
  nullsLast(a.campaign, b.campaign) ||
  nullsLast(a.term, b.term) ||
  nullsLast(a.content, b.content);

export async function utmCampaigns(facts: AppFacts, range: OpenRange): Promise<UtmCampaign[]> {
  const rows = await (facts.segment === null
    ? allCampaigns(facts.sessions, range)
    : countMatching(facts, CAMPAIGNS, asOne(closed(range))));
  const campaigns = [...sumByKey(rows)]
    .map(([key, [sessions = 0, visitors = 0]]) => {
      const [source = '', medium, campaign, term, content] = textsOf(key);
      return {
        source,
        medium: orNull(medium),
        campaign: orNull(campaign),
        term: orNull(term),
        content: orNull(content),
        sessions,
        visitors,
      };
    })
    .filter(({ sessions }) => sessions > 0);
  return firstOf(campaigns, MOST_LISTED, ORDER);
}

async function allCampaigns(facts: SessionFacts, range: OpenRange): Promise<Row[]> {
  const pieces = plan(closed(range), facts.until);
  const rows = await Promise.all([
    sealedCampaigns(facts, pieces),
    returning(facts, CAMPAIGNS, [pieces]),
    countSessions(facts, CAMPAIGNS, asOne(pieces.range), edgesOf([pieces])),
  ]);
  return rows.flat();
}

/** Sums of the buckets. Each session counts as a visitor; `returning` subtracts the rest. */
async function sealedCampaigns({ db, where, cache }: SessionFacts, pieces: Plan): Promise<readonly Row[]> {
  if (isEmpty(pieces.sealed)) return [];
  const statement = sql`SELECT ${CAMPAIGN} AS key, sum(u.sessions), sum(u.sessions), sum(u.new_visitors) FROM utm_sums AS u
WHERE ${where} AND ${inGrains([pieces])} GROUP BY key`;
  return keptRows(db, cache, 'utm sums', statement);
}
