import { z } from 'zod';
import { basisOf, sessionsBasis } from '../analytics/scopes.ts';
import { Location } from '../answers/rows.ts';
import { defineQuestion } from './endpoint.ts';
import { AppRangeListQuery } from './query.ts';

export const locations = defineQuestion({
  operationId: 'listLocations',
  path: '/api/v1/sessions/locations/all',
  summary: 'Sessions per location with coordinates',
  description:
    'By count descending, then names. Sessions without coordinates are left out, so a missing location does not mean that nobody came from there.',
  query: AppRangeListQuery,
  response: z.array(Location),
  errors: ['beyond_retention'],
  question: ({ appId, range, limit, segment }) => ({
    basis: basisOf(sessionsBasis(range), segment),
    compute: (analytics) => analytics.locations(appId, range, limit, segment),
  }),
});
