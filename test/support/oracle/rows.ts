import { dateTime64 } from '../../../src/clickhouse/database.ts';
import type { SentBatch } from '../generate.ts';
import { KNOWN_DOMAIN, known, LANGUAGES, REFERRERS, UTM_MEDIUMS, UTM_SOURCES } from './known.ts';
import { CHANNELS, type Channel } from './lexicon.ts';

const signal = (channel: Channel | null | undefined): number => CHANNELS.indexOf(channel ?? 'direct') + 1;

/** temporary: rows of events. */
export function rowsOf(appId: string, deliveries: SentBatch['deliveries']): object[] {
  return deliveries.flatMap(({ session, context, events }) => {
    const earliest = [...events].sort((a, b) => a.timestamp - b.timestamp)[0];
    const ua = context.userAgent ?? '';
    const l = context.location ?? {};
    const valid =
      l.latitude !== undefined &&
      l.longitude !== undefined &&
      Math.abs(l.latitude) <= 90 &&
      Math.abs(l.longitude) <= 180;
    return events.map((event) => ({
      app_id: appId,
      timestamp: dateTime64(event.timestamp),
      session_id: session.id,
      started_at: dateTime64(session.startedAt),
      type: event.type,
      path: event.path.replace(/[?#].*$/s, ''),
      label: event.target ?? event.message ?? event.name ?? '',
      duration_ms: event.durationMs ?? 0,
      ...(event === earliest
        ? {
            has_context: 1,
            visitor_id: session.visitorId,
            user_agent: ua,
            ...known.technology(ua),
            language: LANGUAGES.get(context.language ?? ''),
            screen: context.screen ?? '',
            referrer: context.referrer ?? '',
            referrer_host: known.referrerHost(context.referrer ?? '', KNOWN_DOMAIN),
            referrer_signal: signal(REFERRERS.get(context.referrer ?? '')?.channel),
            utm_source: context.utm?.source ?? '',
            source_signal: signal(UTM_SOURCES.get(context.utm?.source ?? '')),
            utm_medium: context.utm?.medium ?? '',
            medium_signal: signal(UTM_MEDIUMS.get(context.utm?.medium ?? '')),
            utm_campaign: context.utm?.campaign ?? '',
            utm_term: context.utm?.term ?? '',
            utm_content: context.utm?.content ?? '',
            country: l.country ?? '',
            region: l.region ?? '',
            city: l.city ?? '',
            latitude: valid ? (l.latitude ?? 0) + 0 : -999,
            longitude: valid ? (l.longitude ?? 0) + 0 : -999,
          }
        : { has_context: 0 }),
    }));
  });
}
