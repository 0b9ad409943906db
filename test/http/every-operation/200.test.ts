import { beforeAll, expect, test } from 'vitest';
import { ENDPOINTS } from '../../../src/endpoints/index.ts';
import { askRightly, withService } from '../operations.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));

test.each(ENDPOINTS.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s answers as its schema documents',
  async (operationId, { response, method }) => {
    const answer = await askRightly(service(), operationId);
    expect(answer.status).toBe(method === 'post' ? 201 : 200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.parse(answer.json)).toEqual(answer.json);
  },
);
