import { identifier, join, type Sql, sql } from '../clickhouse/sql.ts';
import type { HourCount } from '../domain/hour-count.ts';
import type { SdkApp } from '../metadata/types.ts';
import type { BatchKey } from './batch-key.ts';
import { mediumSignal, referrerSignal, sourceSignal } from './channels.ts';
import type { Place } from './context.ts';
import { hoursOf } from './ledger-rows.ts';
import { hostOf, referrerHost } from './referrer.ts';
import { technologyOf } from './user-agent.ts';
import type { ValidSession } from './validate.ts';
import type { EventType, ValidEvent } from './validate-event.ts';
import { countEvents } from './wire.ts';

/** Finds the place of an address in a GeoIP database; null if the database has none. */
export interface Geo {
  locate(address: string): Place | null;
}

export interface RowContext {
  readonly app: SdkApp;
  /** The place of sessions that name none. */
  readonly place: Place | null;
}

/** The value of `events.latitude` and `longitude` for a session without a place. */
export const NO_COORDINATE = -999;
/** The numbers of `events.type`. */
const TYPE: Readonly<Record<EventType, number>> = {
  pageview: 1,
  click: 2,
  error: 3,
  engagement: 4,
  custom: 5,
};
/** The type of each number, which counts from 1. */
export const TYPES = Object.keys(TYPE) as EventType[];

/** Columns of both `ingest_journal` and `events`. Only a session's earliest event in a batch has them. */
export const CONTEXT_TEXTS = [
  'visitor_id',
  'user_agent',
  'browser',
  'os',
  'device',
  'language',
  'screen',
  'referrer',
  'referrer_host',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'country',
  'region',
  'city',
] as const;
const CONTEXT_NUMBERS = [
  'referrer_signal',
  'source_signal',
  'medium_signal',
  'latitude',
  'longitude',
] as const;

type ContextColumns = { readonly [Column in (typeof CONTEXT_TEXTS)[number]]: string } & {
  readonly [Column in (typeof CONTEXT_NUMBERS)[number]]: number;
};

/** The stored form of a batch. */
export interface BatchRows {
  readonly events: number;
  readonly hours: readonly HourCount[];
  /** In the form of `journalRows`. */
  readonly rows: readonly string[];
}

/** The columns of `ingest_journal` that hold what was sent. */
export const SENT_COLUMNS = [
  ...['app_id', 'batch_id', 'session_id', 'started_at', 'offsets', 'types', 'paths', 'labels', 'durations'],
  'properties',
  'context_at',
  ...CONTEXT_TEXTS,
  ...CONTEXT_NUMBERS,
];

export const EVENT_COLUMNS = [
  ...[
    'app_id',
    'session_id',
    'started_at',
    'timestamp',
    'type',
    'path',
    'label',
    'duration_ms',
    'properties',
    'has_context',
  ],
  ...CONTEXT_TEXTS,
  ...CONTEXT_NUMBERS,
];

/** The columns of the context, of a row's earliest event alone. */
const CONTEXT = [
  ...CONTEXT_TEXTS.map((column) => sql`if(number = context_at, ${identifier(column)}, '')`),
  ...CONTEXT_NUMBERS.map((column) => sql`if(number = context_at, ${identifier(column)}, 0)`),
];

/** Selects a flush's rows of `events`, for EVENT_COLUMNS. */
export const EVENTS_OF_FLUSH: Sql = sql`
  SELECT
    app_id,
    session_id,
    fromUnixTimestamp64Milli(started_at, 'UTC'),
    fromUnixTimestamp64Milli(started_at + offset, 'UTC'),
    type,
    path,
    label,
    duration_ms,
    event_properties,
    number = context_at,
    ${join(CONTEXT, sql`,\n    `)}
  FROM ingest_journal
  ARRAY JOIN
    arrayEnumerate(offsets) AS number, offsets AS offset, types AS type, paths AS path, labels AS label,
    durations AS duration_ms, arrayResize(properties, length(offsets)) AS event_properties
  WHERE flush_id = {flush:UUID}`;

/** Selects the times of a flush's events, for `ledgerRows` and `begunRows`. */
export const timesOfFlush = (): Sql => sql`
    SELECT
      app_id,
      fromUnixTimestamp64Milli(j.started_at, 'UTC') AS started_at,
      fromUnixTimestamp64Milli(j.started_at + offset, 'UTC') AS timestamp
    FROM ingest_journal AS j ARRAY JOIN offsets AS offset
    WHERE flush_id = {flush:UUID}`;

export const BATCH_COLUMNS = ['app_id', 'batch_id', 'flush_id'];

/**
 * Returns a batch's rows of `ingest_journal` without the columns that its flush adds: the inner part of JSON
 * objects, without defaults, to be completed by `{…,`. `sessions`: in the form of `sessionColumns`.
 */
export function journalRows(batch: BatchKey, sessions: readonly string[]): string[] {
  const head = `"app_id":"${batch.app}","batch_id":"${batch.batch}"`;
  return sessions.length === 0 ? [`${head}}`] : sessions.map((session) => `${head},${session}`);
}

/** Returns the same rows with their counts; `columns` has those of each session, in order. */
export function batchRows(
  batch: BatchKey,
  sessions: readonly ValidSession[],
  columns: readonly string[],
): BatchRows {
  return {
    events: countEvents(sessions),
    hours: hoursOf(batch.app, sessions),
    rows: journalRows(batch, columns),
  };
}

/**
 * Returns a session's part of such a row. Visitor and context go to the earliest event (the first one on
 * ties), because the earliest event determines the session's.
 */
export function sessionColumns(session: ValidSession, context: RowContext): string {
  const { events, startedAt } = session;
  const offsets: number[] = [];
  const types: number[] = [];
  const paths: string[] = [];
  const labels: string[] = [];
  const durations: number[] = [];
  let earliest = 0;
  for (const { timestamp, type, path, label, durationMs } of events) {
    const offset = timestamp - startedAt;
    if (offset < (offsets[earliest] ?? offset)) earliest = offsets.length;
    offsets.push(offset);
    types.push(TYPE[type]);
    paths.push(path);
    labels.push(label);
    durations.push(durationMs);
  }
  const columns = {
    session_id: session.id,
    started_at: startedAt,
    offsets,
    types,
    paths,
    labels,
    durations,
    ...(events.some(hasProperties) ? { properties: events.map(({ properties }) => properties) } : {}),
    context_at: earliest + 1,
    ...withoutDefaults(contextColumns(session, context)),
  };
  return JSON.stringify(columns).slice(1);
}

const hasProperties = ({ properties }: ValidEvent): boolean => properties !== '';

function withoutDefaults(columns: ContextColumns): Partial<ContextColumns> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== '' && value !== 0));
}

function contextColumns(session: ValidSession, { app, place }: RowContext): ContextColumns {
  const { context, userAgent } = session;
  const host = referrerHost(context.referrer, hostOf(app.domain));
  const where = context.location ?? place;
  return {
    visitor_id: session.visitorId,
    user_agent: userAgent,
    ...technologyOf(userAgent),
    language: context.language,
    screen: context.screen,
    referrer: context.referrer,
    referrer_host: host,
    referrer_signal: referrerSignal(host),
    utm_source: context.source,
    source_signal: sourceSignal(context.source),
    utm_medium: context.medium,
    medium_signal: mediumSignal(context.medium),
    utm_campaign: context.campaign,
    utm_term: context.term,
    utm_content: context.content,
    country: where?.country ?? '',
    region: where?.region ?? '',
    city: where?.city ?? '',
    latitude: where?.latitude ?? NO_COORDINATE,
    longitude: where?.longitude ?? NO_COORDINATE,
  };
}
