import type { Endpoint } from '../../src/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';

/** The parameters that an operation requires besides `appId`. */
const REQUIRED: Readonly<Record<string, string>> = {
  getSeries: '&interval=day',
  listBreakdown: '&by=country',
  listEvents: '&type=custom',
};
export const requiredBy = (operationId: string): string => REQUIRED[operationId] ?? '';

/** All GET endpoints. */
export const QUESTIONS = ENDPOINTS.filter(({ method }) => method === 'get');

/** The path of a question about the app, with the parameters that it requires. The list of apps is about none. */
export const questionPath = (
  { operationId, path }: Pick<Endpoint, 'operationId' | 'path'>,
  app: string,
): string => (operationId === 'listApps' ? path : `${path}?appId=${app}${requiredBy(operationId)}`);
