import { dateTime64 } from '../clickhouse/database.ts';
import type { SdkApp } from '../metadata/types.ts';
import { mediumSignal, referrerSignal, sourceSignal } from './channels.ts';
import type { Place } from './context.ts';
import { hostOf, referrerHost } from './referrer.ts';
import { technologyOf } from './user-agent.ts';
import type { ValidSession } from './validate.ts';

/** `events.latitude` and `longitude` of a session without a place. */
const NO_COORDINATE = -999;

/** Where an address is, by a GeoIP database; null when it does not say. */
export interface Geo {
  locate(address: string): Place | null;
}

export interface RowContext {
  readonly app: SdkApp;
  /** The place of sessions that name none. */
  readonly place: Place | null;
}

/**
 * A session's events as JSONEachRow lines for the table `events`, in their order. Visitor and context stand on the
 * earliest one only (the first of them on ties), which is what decides for the session.
 */
export function eventRows(session: ValidSession, context: RowContext): string[] {
  const prefix = `{"app_id":"${context.app.id}","session_id":${JSON.stringify(session.id)},"started_at":"${dateTime64(session.startedAt)}"`;
  const earliest = session.events.reduce((first, event) =>
    event.timestamp < first.timestamp ? event : first,
  );
  return session.events.map((event) => {
    const { type, timestamp, path, label, durationMs } = event;
    const own = `,"timestamp":"${dateTime64(timestamp)}","type":"${type}","path":${JSON.stringify(path)}`;
    const named = label === '' ? '' : `,"label":${JSON.stringify(label)}`;
    const lasting = durationMs === 0 ? '' : `,"duration_ms":${durationMs}`;
    const rest = event === earliest ? `,${JSON.stringify(contextColumns(session, context)).slice(1)}` : '}';
    return prefix + own + named + lasting + rest;
  });
}

function contextColumns(session: ValidSession, { app, place }: RowContext): object {
  const { context, userAgent } = session;
  const host = referrerHost(context.referrer, hostOf(app.domain));
  const where = context.location ?? place;
  return {
    has_context: 1,
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
