import { LIST_FORMS, weighted } from './forms.ts';

/** The form of the HTML standard, section 9.2 (server-sent events). */
export const EVENT_STREAM = 'text/event-stream';

/**
 * True if Accept names event streams, and no other form with the same weight or a greater one. A wildcard does not ask
 * for a stream.
 */
export function prefersStream(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const weights = weighted(accept);
  const weight = weights.get(EVENT_STREAM) ?? 0;
  return weight > 0 && LIST_FORMS.every(({ type }) => (weights.get(type) ?? 0) < weight);
}
