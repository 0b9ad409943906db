import { z } from 'zod';
import * as answers from '../answers.ts';
import { AccountParams, KeyBody, KeyParams, RotateKeyBody } from '../schemas.ts';
import { AT, KEY, key } from './examples.ts';
import { tagged } from './tagged.ts';

export const KEYS = tagged('API keys', {
  'GET /accounts/:accountId/keys': {
    operationId: 'listKeys',
    summary: "An account's API keys",
    params: AccountParams,
    answer: z.array(answers.Key),
    example: [key],
  },
  'POST /accounts/:accountId/keys': {
    operationId: 'createKey',
    summary: 'Creates an API key, which is shown only in this answer',
    params: AccountParams,
    body: { schema: KeyBody, example: { name: 'reports' } },
    status: 201,
    errors: ['plan_blocked'],
    answer: answers.CreatedKey,
    example: { keyId: KEY, apiKey: 'service_api_…' },
  },
  'POST /keys/:keyId/rotate': {
    operationId: 'rotateKey',
    summary: 'Makes a new key in the place of one, which lives on for the overlap',
    params: KeyParams,
    body: { schema: RotateKeyBody, example: { overlapSeconds: 86_400 } },
    status: 201,
    errors: ['plan_blocked'],
    answer: answers.CreatedKey,
    example: { keyId: KEY, apiKey: 'service_api_…' },
  },
  'POST /keys/:keyId/revoke': {
    operationId: 'revokeKey',
    summary: 'Ends a key in every process within 5 s',
    params: KeyParams,
    answer: answers.Key,
    example: { ...key, state: 'revoked', revokedAt: AT },
  },
});
