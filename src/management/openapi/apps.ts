import { z } from 'zod';
import * as answers from '../answers.ts';
import { ImportBody } from '../import.ts';
import {
  AppParams,
  ExclusionsBody,
  RetentionBody,
  RotateSecretBody,
  ShareParams,
  VisitorBody,
} from '../schemas.ts';
import { ACCOUNT, APP, app, share } from './examples.ts';
import { tagged } from './tagged.ts';

export const APPS = tagged('Apps', {
  'GET /apps': {
    operationId: 'listAllApps',
    summary: 'The apps of all accounts',
    answer: z.array(answers.OwnedApp),
    example: [{ ...app, accountId: ACCOUNT, accountName: 'Acme' }],
  },
  'DELETE /apps/:appId': {
    operationId: 'deleteApp',
    summary: 'Deletes an app with all its data',
    params: AppParams,
    answer: z.strictObject({ appId: z.string(), deleted: z.literal(true) }),
    example: { appId: APP, deleted: true },
  },
  'POST /apps/:appId/rotate-secret': {
    operationId: 'rotateSecret',
    summary: "Makes a new secret for an app's SDK",
    params: AppParams,
    body: { schema: RotateSecretBody, example: { overlapSeconds: 86_400 } },
    status: 201,
    answer: z.strictObject({ secretKey: z.string() }),
    example: { secretKey: 'app_secret_…' },
  },
  'GET /apps/:appId/retention': {
    operationId: 'getRetention',
    summary: "For how long an app's raw events are kept",
    params: AppParams,
    answer: answers.Retention,
    example: { appId: APP, days: 395, exactFrom: '2025-10-20T00:00:00.000Z' },
  },
  'PUT /apps/:appId/retention': {
    operationId: 'setRetention',
    summary: 'Sets for how many days raw events are kept. Nothing is deleted within an hour',
    params: AppParams,
    body: { schema: RetentionBody, example: { days: 395 } },
    answer: answers.Retention,
    example: { appId: APP, days: 395, exactFrom: null },
  },
  'GET /apps/:appId/excluded-addresses': {
    operationId: 'getExcludedAddresses',
    summary: 'The addresses whose events an app leaves out',
    params: AppParams,
    answer: answers.Exclusions,
    example: { appId: APP, addresses: ['192.0.2.0/24', '2001:db8::/32'] },
  },
  'PUT /apps/:appId/excluded-addresses': {
    operationId: 'setExcludedAddresses',
    summary: 'Replaces the list of addresses whose events an app leaves out, within 5 s. At most 100',
    params: AppParams,
    body: { schema: ExclusionsBody, example: { addresses: ['192.0.2.0/24', '2001:db8::/32'] } },
    answer: answers.Exclusions,
    example: { appId: APP, addresses: ['192.0.2.0/24', '2001:db8::/32'] },
  },
  'POST /apps/:appId/visitor-erasures': {
    operationId: 'eraseVisitor',
    summary: 'Erases a visitor: everything that was stored under the id until now. Returns when it is gone',
    params: AppParams,
    body: { schema: VisitorBody, example: { visitorId: 'v-2f6c1a' } },
    answer: z.strictObject({ appId: z.string(), erased: z.literal(true) }),
    example: { appId: APP, erased: true },
  },
  'GET /shares': {
    operationId: 'listShares',
    summary: 'All shares',
    answer: z.array(answers.Share),
    example: [share],
  },
  'GET /apps/:appId/shares': {
    operationId: 'listSharesOfApp',
    summary: 'The accounts that see an app',
    params: AppParams,
    answer: z.array(answers.Share),
    example: [share],
  },
  'PUT /apps/:appId/shares/:accountId': {
    operationId: 'shareApp',
    summary: "Lets an account read an app's analytics",
    params: ShareParams,
    answer: z.strictObject({ appId: z.string(), accountId: z.string(), shared: z.literal(true) }),
    example: { appId: APP, accountId: ACCOUNT, shared: true },
  },
  'DELETE /apps/:appId/shares/:accountId': {
    operationId: 'unshareApp',
    summary: 'Takes that away, in every process within 5 s',
    params: ShareParams,
    answer: z.strictObject({ appId: z.string(), accountId: z.string(), shared: z.literal(false) }),
    example: { appId: APP, accountId: ACCOUNT, shared: false },
  },
  'POST /apps/:appId/import': {
    operationId: 'importHistory',
    summary: 'Stores sessions of any age, without the events that are there',
    description:
      'The sessions have the form of a batch of the SDK. At most 16 MiB and 40,000 events. With `visits` they are visits of an access log: stored requests decide where a session begins.',
    params: AppParams,
    body: {
      schema: ImportBody,
      example: {
        sessions: [
          {
            id: 's-1',
            visitorId: 'v-1',
            startedAt: '2015-05-17T10:05:03.000Z',
            context: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/32.0.1700.107' },
            events: [{ type: 'pageview', timestamp: '2015-05-17T10:05:03.000Z', path: '/' }],
          },
        ],
      },
    },
    answer: answers.Imported,
    example: { sessions: [0], events: 1, duplicates: 0, rejected: [] },
    errors: ['overloaded'],
  },
});
