import { z } from 'zod';
import * as answers from '../answers.ts';
import { AccountBody, AccountParams, AppBody, NameBody, PlanBody } from '../schemas.ts';
import { ACCOUNT, account, app, share } from './examples.ts';
import { tagged } from './tagged.ts';

export const ACCOUNTS = tagged('Accounts', {
  'GET /accounts': {
    operationId: 'listAccounts',
    summary: 'All accounts',
    answer: z.array(answers.Account),
    example: [account],
  },
  'POST /accounts': {
    operationId: 'createAccount',
    summary: 'Creates an account',
    body: { schema: AccountBody, example: { name: 'Acme', plan: 'free' } },
    status: 201,
    answer: answers.Account,
    example: account,
  },
  'DELETE /accounts/:accountId': {
    operationId: 'deleteAccount',
    summary: 'Deletes an account with its keys, apps and all their data',
    params: AccountParams,
    answer: z.strictObject({ accountId: z.string(), deleted: z.literal(true) }),
    example: { accountId: ACCOUNT, deleted: true },
  },
  'PUT /accounts/:accountId/name': {
    operationId: 'renameAccount',
    summary: 'Renames an account',
    params: AccountParams,
    body: { schema: NameBody, example: { name: 'Acme Ltd' } },
    answer: answers.Account,
    example: { ...account, name: 'Acme Ltd' },
  },
  'PUT /accounts/:accountId/plan': {
    operationId: 'setPlan',
    summary: 'Gives an account another plan, which takes effect within 5 s',
    params: AccountParams,
    body: { schema: PlanBody, example: { plan: 'pro' } },
    answer: answers.Account,
    example: { ...account, plan: 'pro' },
  },
  'GET /accounts/:accountId/apps': {
    operationId: 'listAppsOfAccount',
    summary: 'The apps that an account owns or sees',
    params: AccountParams,
    answer: z.array(answers.VisibleApp),
    example: [{ ...app, access: 'owner' }],
  },
  'POST /accounts/:accountId/apps': {
    operationId: 'addApp',
    summary: 'Creates an app in an account',
    params: AccountParams,
    body: { schema: AppBody, example: { name: 'Blog', domain: 'https://blog.example' } },
    status: 201,
    answer: answers.CreatedApp,
    example: {
      ...app,
      name: 'Blog',
      domain: 'https://blog.example',
      access: 'owner',
      secretKey: 'app_secret_…',
    },
    errors: ['plan_blocked', 'domain_conflict'],
  },
  'GET /accounts/:accountId/shares': {
    operationId: 'listSharesWithAccount',
    summary: 'The apps that are shared with an account, or by it',
    params: AccountParams,
    answer: z.array(answers.Share),
    example: [share],
  },
});
