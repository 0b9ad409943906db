import { z } from 'zod';
import { basisOf, sessionsBasis } from '../analytics/scopes.ts';
import { defineQuestion } from './endpoint.ts';
import { figure } from './fields.ts';
import { AppRangeListQuery } from './query.ts';

const Location = z
  .strictObject({
    country: z.string().nullable(),
    region: z.string().nullable(),
    city: z.string().nullable(),
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    count: figure('sessionsListed'),
  })
  .meta({ id: 'PublicLocationDto' });

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
