import { AppError } from '../../domain/errors.ts';
import type { Segment } from '../../domain/segment.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Endpoint, isAboutApp, parametersOf } from '../../endpoints/endpoint.ts';
import { series } from '../../endpoints/series.ts';
import { userGrowth } from '../../endpoints/user-growth.ts';
import type { Shown } from '../../metadata/types.ts';

/* What the caller of a link may ask: the questions about its app, narrowed to its sessions. */

/** Without a bound these answers begin or end with the app's data, not with the segment's. */
const BEGIN_WITH_DATA: ReadonlySet<string> = new Set([series.operationId, userGrowth.operationId]);

const hasSegment = (endpoint: Endpoint): boolean =>
  Object.hasOwn(parametersOf(endpoint.query).shape, 'segment');

/** Whether an endpoint is there for a link. One that cannot be narrowed is not there for a link with a segment. */
export const isShown = (endpoint: Endpoint, { segment }: Shown): boolean =>
  isAboutApp(endpoint) && (segment === null || hasSegment(endpoint));

/**
 * The question as the link may ask it: the link's conditions must hold besides those of the query. Throws
 * `validation_failed` for a question whose bounds would tell about other sessions.
 */
export function narrowed(endpoint: Endpoint, query: object, { segment }: Shown): object {
  if (segment === null) return query;
  const { range, segment: asked } = query as {
    readonly range?: OpenRange;
    readonly segment: Segment | null;
  };
  const missing = (['from', 'to'] as const).filter(
    (bound) => range?.[bound] === null && BEGIN_WITH_DATA.has(endpoint.operationId),
  );
  if (missing.length > 0) {
    throw new AppError('validation_failed', 'One or more fields are invalid.', {
      errors: missing.map((field) => ({ field, message: 'Required with this link.' })),
    });
  }
  return { ...query, segment: [...segment, ...(asked ?? [])] };
}
