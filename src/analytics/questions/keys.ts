import { z } from 'zod';
import type { Database, Query, RunOptions } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import { asTheyAre, type Facts } from '../ask.ts';
import { isWide, type Plan, plan } from '../plan.ts';
import {
  anyOf,
  bucket,
  edgeRanges,
  eventsIn,
  inGrains,
  inSpans,
  instant,
  int,
  isEmpty,
  ofApp,
  unionAll,
} from '../sql.ts';
import { byText, descending } from './order.ts';
import { Ranked, type Ranking } from './ranked.ts';

/**
 * What events can be about: a page by its path (with the engagement on it); or the label of an error (its message), of a
 * click (its target) or of a custom event (its name).
 */
export interface KeyGroup {
  readonly kinds: string;
  /** Where there is one. */
  readonly onlyKind: string | null;
  readonly types: string;
  /** Of a raw event; a low-cardinality column as it is stands in the way of nothing. */
  readonly kind: string;
  readonly key: string;
  /** What the answer calls `key`: a label can be absent, a path cannot. */
  readonly name: string;
  /** Types whose distinct sessions are counted. */
  readonly paired: string;
}

export const PAGES: KeyGroup = {
  kinds: `'page'`,
  onlyKind: `'page'`,
  types: `'pageview', 'engagement'`,
  kind: `'page'`,
  key: 'path',
  name: 'key',
  paired: `type = 'pageview'`,
};

export const LABELS: KeyGroup = {
  kinds: `'error', 'click', 'custom'`,
  onlyKind: null,
  types: `'error', 'click', 'custom'`,
  kind: 'toString(type)',
  key: 'label',
  name: "if(key = '', '(none)', key)",
  paired: `type = 'error'`,
};

/** An answer's row: the key's kind and name, and a sum of each of its columns. */
interface Measures<Row extends KeyRow> {
  readonly row: z.ZodType<Row>;
  /** Each by what it is a sum of: `events`, `sessions`, `engaged_ms` or `engagements`. The answer is ordered by the first. */
  readonly columns: Readonly<Record<Exclude<keyof Row, keyof KeyRow>, string>>;
  readonly ranking: Ranking<Row>;
}

interface KeyRow {
  readonly kind: string;
  readonly name: string;
}

const KEY = { kind: z.string(), name: z.string() };
const keyOf = ({ kind, name }: KeyRow): string => `${kind} ${name}`;
const byName = (a: KeyRow, b: KeyRow): number => byText(a.name, b.name) || byText(a.kind, b.kind);

const VIEWS_ROW = z.object({ ...KEY, events: z.number(), sessions: z.number() });
type Views = z.infer<typeof VIEWS_ROW>;

/** How often a page was viewed and by how many sessions; the same of clicks, errors and custom events. */
export const VIEWS: Measures<Views> = {
  row: VIEWS_ROW,
  columns: { events: 'events', sessions: 'sessions' },
  ranking: {
    keyOf,
    add: (a, b) => ({ ...a, events: a.events + b.events, sessions: a.sessions + b.sessions }),
    order: (a, b) => descending(a.events, b.events) || byName(a, b),
  },
};

const TIME_ROW = z.object({ ...KEY, engagedMs: z.number(), events: z.number(), engagements: z.number() });

/** How long sessions were engaged with a page. */
export const TIME: Measures<z.infer<typeof TIME_ROW>> = {
  row: TIME_ROW,
  columns: { engagedMs: 'engaged_ms', events: 'events', engagements: 'engagements' },
  ranking: {
    keyOf,
    add: (a, b) => ({
      ...a,
      engagedMs: a.engagedMs + b.engagedMs,
      events: a.events + b.events,
      engagements: a.engagements + b.engagements,
    }),
    order: (a, b) => descending(a.engagedMs, b.engagedMs) || byName(a, b),
  },
};

/** What is asked about a group of keys. */
export interface KeyQuestion<Row extends KeyRow> {
  readonly db: Database;
  readonly facts: Facts;
  readonly app: AppId;
  readonly range: Range;
  readonly group: KeyGroup;
  readonly measures: Measures<Row>;
}

/**
 * The range's keys, largest first measure first, then by name. `sessions`, of pages and errors, are distinct sessions with at least
 * one event of the key in the range. A key may be there for another measure than one that is 0.
 */
export async function keySums<Row extends KeyRow>(asked: KeyQuestion<Row>): Promise<Iterable<Row>> {
  const { db, measures } = asked;
  const pieces = piecesOf(asked);
  if (pieces.isRepeated) return remembered(asked, pieces);
  const query = { name: 'keys', sql: addedUp(asked, await pieces.all(), IN_ORDER), row: measures.row };
  return db.query(query, {}, pieces.options);
}

/** How many keys of a kind there are, and the most frequent of them, by name where they are equally frequent. */
export interface TopKeys {
  readonly keys: number;
  readonly top: readonly { readonly name: string; readonly count: number; readonly sessions: number }[];
}

const TOP_ROW = z.object({
  kind: z.string(),
  keys: z.number(),
  /** Negative count, name, sessions. */
  top: z.array(z.tuple([z.number(), z.string(), z.number()])),
});

/** By kind. */
export async function topKeys(asked: KeyQuestion<Views>, count: number): Promise<(kind: string) => TopKeys> {
  const pieces = piecesOf(asked);
  const kinds = new Map<string, { keys: number; top: TopKeys['top'][number][] }>();
  if (pieces.isRepeated) {
    for (const { kind, name, events, sessions } of await remembered(asked, pieces)) {
      if (events === 0) break;
      const found = kinds.get(kind) ?? { keys: 0, top: [] };
      kinds.set(kind, found);
      found.keys++;
      if (found.top.length < count) found.top.push({ name, count: events, sessions });
    }
  } else {
    const sql = `SELECT kind, count() AS keys, groupArraySorted(${int(count)})((-events, name, sessions)) AS top
FROM (${addedUp(asked, await pieces.all())} HAVING events > 0)
GROUP BY kind`;
    for (const { kind, keys, top } of await asked.db.query(
      { name: 'top keys', sql, row: TOP_ROW },
      {},
      pieces.options,
    )) {
      kinds.set(kind, {
        keys,
        top: top.map(([minus, name, sessions]) => ({ name, count: -minus, sessions })),
      });
    }
  }
  return (kind) => kinds.get(kind) ?? { keys: 0, top: [] };
}

/** The rows of which the answer is made, glued by UNION ALL: of the sealed hours, of the ragged ends, of the tail. */
interface KeyPieces<Row> {
  readonly options: RunOptions;
  readonly sealed: Query<Row> | null;
  readonly edges: Query<Row> | null;
  /** Whether it pays to remember the sealed hours. */
  readonly isRepeated: boolean;
  tail(): Promise<string | null>;
  all(): Promise<string>;
}

function piecesOf<Row extends KeyRow>(asked: KeyQuestion<Row>): KeyPieces<Row> {
  const { db, facts, app, range, group, measures } = asked;
  const pieces = plan(range, facts.until);
  const rows = {
    sealed: isEmpty(pieces.sealed) ? null : sealedRows(app, pieces, group),
    edges: unionAll([revisitedAtEnds(app, pieces, group), edgeRows(app, pieces, group)], '') || null,
  };
  const tail = async () => (pieces.tail === null ? null : tailRows(db, app, pieces, pieces.tail, group));
  const query = (name: string, of: string | null, order = '') =>
    of === null ? null : { name, sql: addedUp(asked, of, order), row: measures.row };
  const sealed = query('sealed keys', rows.sealed, IN_ORDER);
  const edges = query('key edges', rows.edges);
  if (edges !== null) facts.isRepeated(edges);
  return {
    options: { parallel: isWide(pieces) },
    sealed,
    edges,
    isRepeated: sealed !== null && facts.isRepeated(sealed),
    tail,
    all: async () => unionAll([rows.sealed, rows.edges, await tail()], NO_ROWS),
  };
}

/** With the sealed hours, and ends that are asked for again, from what is remembered of them. */
async function remembered<Row extends KeyRow>(
  asked: KeyQuestion<Row>,
  { options, sealed, edges, tail }: KeyPieces<Row>,
): Promise<Iterable<Row>> {
  const {
    db,
    facts,
    measures: { row, ranking },
  } = asked;
  const tailQuery = async (): Promise<Row[]> => {
    const rows = await tail();
    return rows === null ? [] : db.query({ name: 'key tail', sql: addedUp(asked, rows), row }, {}, options);
  };
  const [ranked, atEnds, atTail] = await Promise.all([
    sealed === null
      ? new Ranked<Row>([], ranking)
      : facts.recall(
          sealed,
          () => db.query(sealed, {}, options),
          (rows) => new Ranked(rows, ranking),
        ),
    edges === null ? [] : facts.recall(edges, () => db.query(edges, {}, options), asTheyAre, 'when repeated'),
    tailQuery(),
  ]);
  return ranked.with([...atEnds, ...atTail]);
}

/** By the first measure, which is the third column. */
const IN_ORDER = 'ORDER BY 3 DESC, name, kind';
const NO_ROWS = `SELECT '' AS kind, '' AS key, 0 AS events, 0 AS sessions, 0 AS engaged_ms, 0 AS engagements WHERE false`;

/** Sums of rows (kind, key, events, sessions, engaged_ms, engagements). One column to group by is fastest. */
const addedUp = <Row extends KeyRow>(
  { group, measures }: KeyQuestion<Row>,
  rows: string,
  order = '',
): string => `SELECT ${group.onlyKind ?? 'toString(kind)'} AS kind, toString(${group.name}) AS name, ${Object.entries(
  measures.columns,
)
  .map(([column, of]) => `sum(r.${of}) AS ${column}`)
  .join(', ')}
FROM (${rows}) AS r GROUP BY ${group.onlyKind === null ? 'kind, name' : 'name'} ${order}`;

/**
 * The sealed hours, as if nothing had been before them. Pairs met again in a sealed hour count where they had not met within these
 * hours before: as a session lasts 24 h, only those of the first day can have met before them.
 */
function sealedRows(app: AppId, pieces: Plan, { kinds }: KeyGroup): string {
  const { start, end } = pieces.sealed;
  const firstDay = { start, end: Math.min(end, start + DAY_MS) };
  return `
SELECT toString(kind) AS kind, key, toInt64(f.events) AS events, toInt64(first_sessions) AS sessions, f.engaged_ms AS engaged_ms,
    f.engagements AS engagements
FROM event_facts AS f
WHERE ${ofApp(app)} AND f.kind IN (${kinds}) AND ${inGrains([pieces])}
UNION ALL
${revisitsWhere(app, kinds, '1', [`${inSpans('v.hour', [firstDay])} AND prev_at < ${int(start)}`])}`;
}

/**
 * Taken off again: pairs of the sealed hours that had met in the first edge, and pairs of the last one that had met within the range
 * before, as the sealed hour that it cuts knows.
 */
function revisitedAtEnds(
  app: AppId,
  { range, left, sealed, right }: Plan,
  { kinds }: KeyGroup,
): string | null {
  const again: string[] = [];
  if (left !== null && !isEmpty(sealed)) {
    const firstDay = { start: sealed.start, end: Math.min(sealed.end, sealed.start + DAY_MS) };
    again.push(
      `${inSpans('v.hour', [firstDay])} AND prev_at >= ${int(range.from)} AND prev_at < ${int(sealed.start)}`,
    );
  }
  if (right !== null) {
    again.push(
      `v.hour = ${bucket(right.from)} AND first_at <= ${int(right.to)} AND prev_at >= ${int(range.from)}`,
    );
  }
  return again.length === 0 ? null : revisitsWhere(app, kinds, '-1', again);
}

const revisitsWhere = (
  app: AppId,
  kinds: string,
  sessions: string,
  conditions: readonly string[],
): string => `
SELECT toString(kind) AS kind, key, toInt64(0) AS events, toInt64(${sessions}) AS sessions, toUInt64(0) AS engaged_ms,
    toUInt64(0) AS engagements
FROM revisits AS v
WHERE ${ofApp(app)} AND v.kind IN (${kinds}) AND ${anyOf(conditions)}`;

/** Raw rows of the ragged ends, each less than an hour: a pair counts once in each. */
function edgeRows(app: AppId, plan: Plan, group: KeyGroup): string | null {
  const edges = edgeRanges(plan);
  if (edges.length === 0) return null;
  const side = plan.right === null ? '0' : `timestamp >= ${instant(plan.right.from)}`;
  return rawRows(app, edges, group, `uniqExactIf((session_id, started_at, ${side}), ${group.paired})`);
}

const rawRows = (app: AppId, ranges: readonly Range[], group: KeyGroup, pairs: string): string => `
SELECT ${group.kind} AS kind, ${group.key} AS key, toInt64(countIf(type != 'engagement')) AS events,
    toInt64(${pairs}) AS sessions, sum(duration_ms) AS engaged_ms, countIf(type = 'engagement') AS engagements
FROM events
WHERE ${ofApp(app)} AND type IN (${group.types}) AND ${eventsIn(ranges)}
GROUP BY kind, key`;

/** Unsealed rows, and off again the pairs that had met within the range before. */
async function tailRows(
  db: Database,
  app: AppId,
  pieces: Plan,
  tail: Range,
  group: KeyGroup,
): Promise<string> {
  const since = await lookBack(db, app, pieces, group);
  return unionAll(
    [
      rawRows(app, [tail], group, `uniqExactIf((session_id, started_at), ${group.paired})`),
      since > 0 && since < tail.from ? metBefore(app, tail, since, group) : null,
    ],
    '',
  );
}

/** Sessions that began before the tail and go on in it. */
const goingOn = (app: AppId, tail: Range, paired: string): string =>
  `FROM events WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([tail])} AND started_at < ${instant(tail.from)}`;

const FIRST_START = z.object({ ms: z.number() });

/**
 * When the first session of those that go on in the tail began, to the hour: 24 h before it at most, mostly less than one. The
 * tail's own start where there is none.
 */
async function lookBack(
  db: Database,
  app: AppId,
  { range, tail }: Plan,
  { paired }: KeyGroup,
): Promise<number> {
  if (tail === null || range.from >= tail.from) return 0;
  const { ms } = await db.queryOne({
    name: 'sessions that go on',
    sql: `SELECT toUnixTimestamp64Milli(coalesce(minOrNull(started_at), ${instant(tail.from)})) AS ms ${goingOn(app, tail, paired)}`,
    row: FIRST_START,
  });
  return Math.max(range.from, ms);
}

/** Of the sessions that go on in the tail: their pairs that met on both sides of its start. */
function metBefore(app: AppId, tail: Range, since: number, { kind, key, paired }: KeyGroup): string {
  const start = instant(tail.from);
  const around = { from: epochMs(since), to: tail.to };
  return `
SELECT kind, key, toInt64(0) AS events, -toInt64(count()) AS sessions, toUInt64(0) AS engaged_ms, toUInt64(0) AS engagements
FROM
(
    SELECT ${kind} AS kind, ${key} AS key
    FROM events
    WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([around])} AND started_at < ${start}
        AND (session_id, started_at) IN (SELECT session_id, started_at ${goingOn(app, tail, paired)})
    GROUP BY kind, key, session_id, started_at
    HAVING min(timestamp) < ${start} AND max(timestamp) >= ${start}
)
GROUP BY kind, key`;
}
