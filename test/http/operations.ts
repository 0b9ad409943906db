import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { parametersOf } from '../../src/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import {
  type Answer,
  type Ask,
  endpointOf,
  type Tenant,
  type TestService,
  type TestServiceOptions,
  testService,
} from './support.ts';

/** A service for the tests of one file. */
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

/** The operation's query parameters by name. */
export const parameters = (operationId: string) => parametersOf(endpointOf(operationId).query).shape;
export const isAboutApp = (operationId: string): boolean => 'appId' in parameters(operationId);

/** The ids of all operations, of those that read, and of those about an app. */
export const OPERATIONS = ENDPOINTS.map(({ operationId }) => operationId);
export const READING = OPERATIONS.filter((operationId) => endpointOf(operationId).method === 'get');
export const ABOUT_APP = OPERATIONS.filter(isAboutApp);

/** A request of the operation that is right in everything but what `more` says. */
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
  // A bare `?` where there is no app: parameters can be appended with `&`.
  return ask(`${path}?${isAboutApp(operationId) ? `appId=${app}` : ''}${query}`, { ...body, ...rest });
}
