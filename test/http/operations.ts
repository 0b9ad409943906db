import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { parametersOf } from '../../src/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { requiredBy } from '../support/questions.ts';
import {
  type Answer,
  type Ask,
  endpointOf,
  type Tenant,
  type TestService,
  type TestServiceOptions,
  testService,
} from './support.ts';

/** Starts a service for the tests of one file. */
export function withService(options?: TestServiceOptions): () => TestService {
  let service: TestService | undefined;
  beforeAll(async () => {
    service = await testService(options);
  });
  afterAll(() => service?.close());
  return () => {
    if (service === undefined) throw new Error('not started');
    return service;
  };
}

/** Returns the operation's query parameters by name. */
export const parameters = (operationId: string) => parametersOf(endpointOf(operationId).query).shape;
export const isAboutApp = (operationId: string): boolean => 'appId' in parameters(operationId);

/** The ids of all operations, of the reading ones, and of those about an app. */
export const OPERATIONS = ENDPOINTS.map(({ operationId }) => operationId);
export const READING = OPERATIONS.filter((operationId) => endpointOf(operationId).method === 'get');
export const ABOUT_APP = OPERATIONS.filter(isAboutApp);

/** Sends a valid request of the operation, changed by `more`. */
export function askRightly(
  { app, ask }: Pick<Tenant, 'app' | 'ask'>,
  operationId: string,
  more: Ask & { query?: string } = {},
): Promise<Answer> {
  const { query = '', ...rest } = more;
  const { method, path } = endpointOf(operationId);
  const body: Ask =
    method === 'post'
      ? { method: 'POST', body: { name: 'New', domain: `https://${randomUUID()}.example` } }
      : {};
  // The `?` stays without an app, so that callers can append parameters with `&`.
  return ask(`${path}?${isAboutApp(operationId) ? `appId=${app}${requiredBy(operationId)}` : ''}${query}`, {
    ...body,
    ...rest,
  });
}
