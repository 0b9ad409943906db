import { dataBoundsBasis } from '../analytics/scopes.ts';
import { DataBounds } from '../answers/times.ts';
import { defineQuestion } from './endpoint.ts';
import { AppQuery } from './query.ts';

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
