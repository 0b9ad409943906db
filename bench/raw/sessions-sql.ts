import { type Sql, sql } from '../../src/clickhouse/sql.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { sessionsIn } from './segment.ts';
/**
 * Sessions that started in [from, to], merged: one row each, with the whole session's totals and its resolved
 * context. Columns have the names of the answers; '' is absent. `channel` is the smallest signal of any
 * field, as documented in src/ingestion/channels.ts. A campaign, term or content points to `campaign` (5).
 *
 * FINAL merges rows in the order of the table. Grouping by session builds a hash table of all context first, which takes
 * 5 to 17 times the processor time.
 */
export const sessionsSql = (segment: Segment | null = null): Sql => sql`
SELECT
    s.started_at AS started_at, s.session AS session, s.last_offset AS duration_ms,
    s.pageviews AS pageviews, s.clicks AS clicks, s.errors AS errors,
    s.pageviews <= 1 AND s.clicks = 0 AND s.customs = 0 AS bounced,
    s.entry.2 AS entry_path, s.entry.2 != '' AS has_page, s.exit.2 AS exit_path,
    s.visitor.2 AS visitor_id,
    s.technology.3 AS browser, s.technology.4 AS os, s.technology.5 AS device,
    s.language.2 AS language, s.screen.2 AS screen,
    s.referrer.3 AS referrer_host,
    s.utm_source.2 AS utm_source, s.utm_medium.2 AS utm_medium, s.utm_campaign.2 AS utm_campaign,
    s.utm_term.2 AS utm_term, s.utm_content.2 AS utm_content,
    least(s.referrer.4, s.utm_source.3, s.utm_medium.3,
        if(s.utm_campaign.2 != '' OR s.utm_term.2 != '' OR s.utm_content.2 != '', 5, 7)) AS channel,
    s.country.2 AS country, s.region.2 AS region, s.city.2 AS city,
    s.latitude.2 AS latitude, s.longitude.2 AS longitude
FROM all_sessions AS s FINAL
WHERE s.app_id = {app:UUID}
    AND s.started_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND s.started_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')${sessionsIn(segment)}`;

/**
 * A session of `events`. The table of sessions has the same 64 bits in its key. A set of numbers takes less than half
 * of the time of a set of texts.
 */
export const SESSION_HASH = sql`cityHash64(session_id, started_at)`;
