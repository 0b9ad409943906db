import { AppError } from '../../domain/errors.ts';
import { epochMs, MINUTE_MS, toIso } from '../../domain/time.ts';

const OFFSET = /([+-])(\d{2}):(\d{2})$/;

/**
 * Names the bounds of `beyond_retention` as the request did: with its offsets, and null for a bound that it left out.
 * Returns any other error as it is.
 */
export function inCallersForm(error: unknown, search: string): unknown {
  if (!(error instanceof AppError) || error.nearest === undefined) return error;
  const sent = new URLSearchParams(search);
  const { from, to } = error.nearest;
  const nearest = { from: withOffsetOf(sent.get('from'), from), to: withOffsetOf(sent.get('to'), to) };
  return new AppError(error.code, error.detail, { nearest });
}

/** Spells an instant with the offset of another one, which is null if it was not sent. */
function withOffsetOf(sent: string | null, instant: string | null): string | null {
  if (sent === null || instant === null) return null;
  const [offset, sign, hours, minutes] = OFFSET.exec(sent) ?? [];
  if (offset === undefined) return instant;
  const ahead = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return toIso(epochMs(Date.parse(instant) + ahead)).replace('Z', offset);
}
