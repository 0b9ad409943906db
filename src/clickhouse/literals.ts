import { type AppId, isUuid } from '../domain/ids.ts';
import type { Span } from '../domain/time.ts';

/*
 * Values that are glued into statements: whole numbers and an app's UUID, both checked here, and nothing
 * else. Literals cost the engine a third of the time of bound params. Text from a caller is never glued in.
 */

/** An Int64 literal, for epoch ms and counts. */
export function int(value: number): string {
  if (!Number.isSafeInteger(value)) throw new Error(`not a whole number: ${value}`);
  return String(value);
}

/** Selects the rows of the app. */
export function ofApp(app: AppId): string {
  if (!isUuid(app)) throw new Error('not an app id');
  return `app_id = '${app}'`;
}

export const anyOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;

/** `column` (Int64 epoch ms) lies in one of the spans. */
export const inMs = (column: string, spans: readonly Span[]): string =>
  anyOf(spans.map(({ start, end }) => `${column} >= ${int(start)} AND ${column} < ${int(end)}`));

/** `column` (the start of a bucket, DateTime) lies in one of the spans. */
export const inSpans = (column: string, spans: readonly Span[]): string =>
  anyOf(spans.map(({ start, end }) => `${column} >= ${bucket(start)} AND ${column} < ${bucket(end)}`));

/** The last second that a DateTime can hold: 1970 to 2106. No bucket lies outside of it. */
export const LAST_SECOND = 0xffff_ffff;

/** A bound of buckets, as the seconds of a DateTime. */
export const bucket = (ms: number): string => int(Math.min(Math.max(Math.floor(ms / 1000), 0), LAST_SECOND));
