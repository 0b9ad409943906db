import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { OpenRange, Range } from '../../domain/time.ts';
import { type Asker, closed, type Facts, type SessionFacts } from '../ask.ts';
import { startedIn, TooManyLate } from '../late.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Plan, plan, type Span, sealedPart, spanOf } from '../plan.ts';
import type { UtmCampaign } from '../results.ts';
import { edgeRanges, inGrains, inMs, isEmpty } from '../sql.ts';
import { cutHours, fromHoursOr, pairsByKey } from './cut-hours.ts';
import { UTM_COLUMNS } from './dimensions.ts';
import { areLookedUp, areTooMany, lastVisits, NAMED_VISITORS, NAMES, visitOf } from './last-visits.ts';
import { byText, descending, nullsLast } from './order.ts';
import { askReturns, prevBeforeIn, returnedAtTheEnd } from './visitors.ts';

const WORD_COLUMNS = [z.string(), z.string(), z.string(), z.string(), z.string()] as const;
const WORDS = z.tuple(WORD_COLUMNS);
type Words = z.infer<typeof WORDS>;
const ROW = z.tuple([...WORD_COLUMNS, z.number(), z.number()]);
type Row = z.infer<typeof ROW>;

const UTM = UTM_COLUMNS.join(', ');
const MOST_LISTED = 100;

export async function utmCampaigns({ db, facts }: Asker, range: OpenRange): Promise<UtmCampaign[]> {
  const session = await facts.sessions();
  const pieces = plan(closed(range), session.until);
  const rows = await Promise.all([
    sealedSums(db, session, pieces),
    edges(db, session, pieces),
    returning(db, session, pieces),
    pieces.tail === null ? [] : tailSums(db, session, pieces, pieces.tail),
    lateSums(session, pieces),
  ]);
  return summed(rows.flat())
    .filter(({ sessions }) => sessions > 0)
    .sort(ORDER)
    .slice(0, MOST_LISTED);
}

const ORDER = (a: UtmCampaign, b: UtmCampaign): number =>
  descending(a.sessions, b.sessions) ||
  byText(a.source, b.source) ||
  nullsLast(a.medium, b.medium) ||
  nullsLast(a.campaign, b.campaign) ||
  nullsLast(a.term, b.term) ||
  nullsLast(a.content, b.content);

const orNull = (text: string): string | null => (text === '' ? null : text);

function summed(rows: readonly Row[]): UtmCampaign[] {
  const found = new Map<string, UtmCampaign>();
  for (const [source, medium, campaign, term, content, sessions, visitors] of rows) {
    const key = JSON.stringify([source, medium, campaign, term, content]);
    const known = found.get(key);
    found.set(key, {
      source,
      medium: orNull(medium),
      campaign: orNull(campaign),
      term: orNull(term),
      content: orNull(content),
      sessions: sessions + (known?.sessions ?? 0),
      visitors: visitors + (known?.visitors ?? 0),
    });
  }
  return [...found.values()];
}

/** Sums of the buckets. Counts each session as a visitor; `returning` subtracts the rest. */
async function sealedSums(db: Database, facts: Facts, pieces: Plan): Promise<readonly Row[]> {
  if (isEmpty(pieces.sealed)) return [];
  const query = {
    name: 'utm sums',
    sql: `SELECT ${UTM}, sum(u.sessions) AS sessions, sessions AS visitors FROM utm_sums AS u
WHERE ${facts.where} AND ${inGrains([pieces])} GROUP BY ${UTM}`,
    row: ROW,
  };
  return facts.recall(query, () => db.rows(query));
}

/**
 * Sums of the edges. Counts each session as a visitor, except in the right edge those in `returnedAtTheEnd`;
 * `returning` subtracts the rest.
 */
async function edges(db: Database, facts: Facts, pieces: Plan): Promise<readonly Row[]> {
  const spans = edgeRanges(pieces).map(spanOf);
  if (spans.length === 0) return [];
  const query = {
    name: 'utm edges',
    sql: `SELECT ${UTM}, count() AS sessions, countIf(NOT ${returnedAtTheEnd([pieces])}) AS visitors FROM utm_facts
WHERE ${facts.where} AND ${inMs('started_at', spans)} GROUP BY ${UTM}`,
    row: ROW,
  };
  const load = fromHoursOr<readonly Row[]>(
    async () => {
      const cut = await cutHours(db, facts, spans, campaignsOfHour(facts));
      return (
        cut?.flatMap(({ part, hour }) => {
          const prevBefore = prevBeforeIn(pieces, part);
          return hour
            .map(({ key, pairs }): Row => {
              const sessions = pairs.countIn(part, Number.POSITIVE_INFINITY);
              return [...key, sessions, pairs.countIn(part, prevBefore)];
            })
            .filter(([, , , , , sessions]) => sessions > 0);
        }) ?? null
      );
    },
    () => db.rows(query),
  );
  return facts.recall(query, load, 'when repeated');
}

const campaignsOfHour = (facts: Facts) =>
  pairsByKey(
    'utm hour',
    WORDS,
    (hour) => `SELECT (${UTM}), groupArray((started_at, prev)) FROM utm_facts
WHERE ${facts.where} AND ${inMs('started_at', [hour])} GROUP BY ${UTM}`,
  );

const RETURN_TABLES = { pairs: 'utm_return_pairs', byPrev: 'utm_returns', byStart: 'utm_facts' };

/**
 * Corrections: −1 visitor for each sealed session whose visitor has an earlier one with the same combination
 * in the range.
 */
const returning = (db: Database, facts: Facts, pieces: Plan): Promise<Row[]> =>
  askReturns<Row, Words>(
    { db, facts, plans: [pieces], tables: RETURN_TABLES },
    {
      queryOf: ({ n, from }) => ({
        name: 'utm returning',
        sql: `SELECT ${UTM}, toInt64(0), -toInt64(${n}) ${from} GROUP BY ${UTM}`,
        row: ROW,
      }),
      load: (query) => db.rows(query),
      byPrev: pairsByKey(
        'utm returns of an hour',
        WORDS,
        (hour) => `SELECT (${UTM}), groupArray((prev, started_at)) FROM utm_returns
WHERE ${facts.where} AND ${inMs('prev', [hour])} GROUP BY ${UTM}`,
      ),
      rowOf: (_period, words, sessions) => [...words, 0, -sessions],
    },
  );

/** Corrections to the sealed part of the range for late events. */
async function lateSums(facts: SessionFacts, pieces: Plan): Promise<Row[]> {
  const part = sealedPart(pieces);
  const late = await facts.late();
  const { links } = await late.campaigns();
  const words = (campaign: readonly string[]): Words => WORDS.parse(campaign);
  return [
    ...startedIn(late.sessions, part)
      .filter(({ campaign: [source] }) => source !== '')
      .map(({ campaign, sign }): Row => [...words(campaign), sign, 0]),
    ...startedIn(links, part)
      .filter(({ prev }) => prev < part.start)
      .map(({ campaign, sign }): Row => [...words(campaign), 0, sign]),
  ];
}

/** Visits with the same combination. */
const CAMPAIGN_VISITS = {
  name: 'last utm sessions',
  table: 'utm_facts',
  words: UTM_COLUMNS,
  late: async (facts: SessionFacts) => (await (await facts.late()).campaigns()).visits,
};
const NAMED = z.tuple([...WORD_COLUMNS, z.number(), NAMES]);

const visitsOf = ([source, medium, campaign, term, content, , names]: z.infer<
  typeof NAMED
>): readonly string[] => names.map((name) => visitOf(name, [source, medium, campaign, term, content]));

/** Sums of the tail, without visitors who came with the same combination in the sealed part of the range. */
async function tailSums(db: Database, facts: SessionFacts, pieces: Plan, tail: Range): Promise<Row[]> {
  const part = sealedPart(pieces);
  const tagged = `SELECT visitor, ${UTM} FROM (${mergedSessions(facts, tail, [...UTM_COLUMNS, 'visitor'])}) WHERE utm_source != ''`;
  const count = <Counted extends readonly unknown[]>(visitors: string, row: z.ZodType<Counted>) => {
    const sql = `SELECT ${UTM}, count() AS sessions, ${visitors} AS visitors FROM (${tagged}) GROUP BY ${UTM}`;
    return db.rows({ name: 'utm tail', sql, row }, { parallel: true });
  };
  if (!isEmpty(part) && (areLookedUp(facts, CAMPAIGN_VISITS) || facts.hasLate)) {
    const rows = await count(NAMED_VISITORS, NAMED);
    if (!rows.some(([, , , , , , names]) => areTooMany(names))) {
      const last = await lastVisits(db, facts, CAMPAIGN_VISITS, rows.flatMap(visitsOf));
      return rows.map((row): Row => {
        const [source, medium, campaign, term, content, sessions] = row;
        const fresh = visitsOf(row).filter((visit) => last(visit) < part.start);
        return [source, medium, campaign, term, content, sessions, fresh.length];
      });
    }
  }
  if (!isEmpty(part) && facts.hasLate) throw new TooManyLate();
  const [counted, known] = await Promise.all([
    count('uniqExact(visitor)', ROW),
    isEmpty(part) ? [] : knownBefore(db, facts, part, tagged),
  ]);
  return [...counted, ...known];
}

/** Corrections: −1 for each visitor of `tagged` who came with the same combination in `part`. */
const knownBefore = (db: Database, facts: Facts, part: Span, tagged: string): Promise<Row[]> =>
  db.rows(
    {
      // Most visitors in the table are not in the tail. Comparing one number excludes them far faster than
      // comparing a number and five texts.
      name: 'utm tail, known',
      sql: `SELECT ${UTM}, toInt64(0) AS sessions, -toInt64(uniqExact(visitor)) AS visitors FROM utm_facts
WHERE ${facts.where} AND ${inMs('started_at', [part])}
    AND visitor IN (SELECT visitor FROM (${tagged})) AND (visitor, ${UTM}) IN (${tagged})
GROUP BY ${UTM}`,
      row: ROW,
    },
    { parallel: true },
  );
