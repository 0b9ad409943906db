import { z } from 'zod';
import { dataBoundsBasis } from '../analytics/scopes.ts';
import { defineQuestion } from './endpoint.ts';
import { Timestamp } from './fields.ts';
import { AppQuery } from './query.ts';

const DataBounds = z
  .strictObject({
    oldest: Timestamp.nullable().meta({ description: 'Start of the earliest session; null without data.' }),
    newest: Timestamp.nullable().meta({ description: 'Start of the latest session; null without data.' }),
  })
  .meta({ id: 'PublicDataBoundsDto' });

export const dataBounds = defineQuestion({
  operationId: 'getDataBounds',
  path: '/api/v1/sessions/data-bounds',
  summary: 'Start of the earliest and of the latest session',
  query: AppQuery,
  response: DataBounds,
  question: ({ appId }) => ({
    basis: dataBoundsBasis(),
    compute: (analytics) => analytics.dataBounds(appId),
  }),
});
