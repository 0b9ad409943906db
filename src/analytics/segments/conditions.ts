import { anyOf, inHours, inRanges, ofApp } from '../../clickhouse/literals.ts';
import { identifier, join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Condition, Dimension, Happening, Operator, Segment } from '../../domain/segment.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import type { SessionColumn } from '../../facts/sql/session-columns.ts';

/* The conditions of a segment as SQL, over rows of sessions: in the facts or pending ones, which have the same columns. */

/** The column of a session that a dimension compares. The type of a visitor follows from all of the visitor's sessions. */
export const COLUMN_OF = {
  browser: 'browser',
  os: 'os',
  device: 'device',
  screen: 'screen',
  language: 'language',
  channel: 'channel',
  referrer: 'referrer',
  country: 'country',
  region: 'region',
  city: 'city',
  source: 'utm_source',
  medium: 'utm_medium',
  campaign: 'utm_campaign',
  term: 'utm_term',
  content: 'utm_content',
  entryPage: 'entry_page',
  exitPage: 'exit_page',
} as const satisfies Readonly<Record<Exclude<Dimension, 'visitorType'>, SessionColumn>>;

/** The type of an event and the column that is compared. */
const EVENT_OF: Readonly<Record<Happening, readonly [type: string, column: Sql]>> = {
  page: ['pageview', sql`path`],
  event: ['custom', sql`label`],
  target: ['click', sql`label`],
  error: ['error', sql`label`],
};

const isHappening = (dimension: string): dimension is Happening => Object.hasOwn(EVENT_OF, dimension);

const conditionsOf = (segment: Segment): readonly Condition[] => segment.flat();

/** The columns of sessions that the segment needs. */
export const columnsOfSegment = (segment: Segment): SessionColumn[] =>
  conditionsOf(segment).flatMap(({ dimension }) =>
    isHappening(dimension) || dimension === 'visitorType' ? [] : [COLUMN_OF[dimension]],
  );

/** Whether the segment asks what happened in a session. Raw events tell. */
export const needsEvents = (segment: Segment): boolean =>
  conditionsOf(segment).some(({ dimension }) => isHappening(dimension));

/** A segment that matches at least as many sessions, without what happened in them. */
export const withoutEvents = (segment: Segment): Segment =>
  segment.filter((clause) => !needsEvents([clause]));

/** Whether the segment asks for new or returning visitors. */
export const asksForType = (segment: Segment): boolean =>
  conditionsOf(segment).some(({ dimension }) => dimension === 'visitorType');

/** What conditions are about, besides the columns of a session. */
interface Surroundings {
  readonly app: AppId;
  /** The sessions started in it. */
  readonly range: Range;
}

/**
 * SQL condition: the session matches. Sessions are identified by `started_at` (epoch ms) and `session`; `visitor_type` is new or
 * returning.
 */
export const matches = (segment: Segment, around: Surroundings): Sql =>
  join(
    [
      sql`true`,
      ...segment.map((clause) => anyOf(clause.map((condition) => conditionSql(condition, around)))),
    ],
    sql` AND `,
  );

function conditionSql({ dimension, operator, value }: Condition, around: Surroundings): Sql {
  if (isHappening(dimension)) return happened(dimension, operator, value, around);
  const column = dimension === 'visitorType' ? sql`visitor_type` : identifier(COLUMN_OF[dimension]);
  return compared(column, operator, value);
}

/** The four positive operators, and those that deny one. */
const POSITIVE: Readonly<Record<Operator, readonly [holds: boolean, of: Operator]>> = {
  '==': [true, '=='],
  '!=': [false, '=='],
  '=@': [true, '=@'],
  '!@': [false, '=@'],
  '=^': [true, '=^'],
  '=$': [true, '=$'],
};

/** Bytes of UTF-8 are compared, which is the same as code points. */
function compared(column: Sql, operator: Operator, value: string): Sql {
  const text = quoted(value);
  const [holds, positive] = POSITIVE[operator];
  const condition: Sql = {
    '==': sql`${column} = ${text}`,
    '=@': sql`position(${column}, ${text}) > 0`,
    '=^': sql`startsWith(${column}, ${text})`,
    '=$': sql`endsWith(${column}, ${text})`,
  }[positive as '==' | '=@' | '=^' | '=$'];
  return holds ? condition : sql`NOT (${condition})`;
}

/** The empty value means no such event at all. A click without a target is none. */
function happened(
  dimension: Happening,
  operator: Operator,
  value: string,
  { app, range }: Surroundings,
): Sql {
  const [type, column] = EVENT_OF[dimension];
  const [isPositive, positive] = POSITIVE[operator];
  const holds = value === '' ? !isPositive : isPositive;
  const fits = value === '' ? sql`true` : compared(column, positive, value);
  const named = dimension === 'target' ? sql` AND ${column} != ''` : sql``;
  // A session lasts at most 24 h.
  const hours = inHours([{ from: range.from, to: epochMs(range.to + DAY_MS) }]);
  return sql`(started_at, session) ${holds ? sql`IN` : sql`NOT IN`} (
        SELECT toUnixTimestamp64Milli(started_at), session FROM events
        PREWHERE ${ofApp(app)} AND indexHint(${hours}) AND type = ${quoted(type)} AND ${fits}${named} WHERE ${inRanges(sql`started_at`, [range])})`;
}
