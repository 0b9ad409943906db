import { z } from 'zod';
import type { UtmCampaign } from '../../src/answers/rows.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { OpenRange } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { sessionsSql } from './sessions-sql.ts';

const UTM: Query<UtmCampaign> = {
  name: 'utm campaigns',
  sql: sql`SELECT
    utm_source AS source, nullIf(utm_medium, '') AS medium, nullIf(utm_campaign, '') AS campaign,
    nullIf(utm_term, '') AS term, nullIf(utm_content, '') AS content,
    count() AS sessions, uniqExact(cityHash64(visitor_id)) AS visitors
FROM (${sessionsSql()})
WHERE utm_source != ''
GROUP BY source, medium, campaign, term, content
ORDER BY sessions DESC, source, medium NULLS LAST, campaign NULLS LAST, term NULLS LAST, content NULLS LAST
LIMIT 100`,
  row: z.object({
    source: z.string(),
    medium: z.string().nullable(),
    campaign: z.string().nullable(),
    term: z.string().nullable(),
    content: z.string().nullable(),
    sessions: z.number(),
    visitors: z.number(),
  }),
};

export function utmCampaigns(db: RawDatabase, app: AppId, range: OpenRange): Promise<UtmCampaign[]> {
  return db.query(UTM, appRange(app, closed(range)));
}
