import { z } from 'zod';
import * as answers from '../answers.ts';
import { AccountParams, LinkBody, MemberParams, RoleBody } from '../schemas.ts';
import { ACCOUNT, AT, entry, member } from './examples.ts';
import { tagged } from './tagged.ts';

export const PEOPLE = tagged('People', {
  'POST /accounts/:accountId/sign-in-link': {
    operationId: 'createSignInLink',
    summary: 'Makes a link that signs in to the console once, within 10 minutes',
    description: 'Without an address the link is for an owner without a name.',
    params: AccountParams,
    body: { schema: LinkBody, example: { email: 'ada@example.com' } },
    status: 201,
    answer: answers.SignInLink,
    example: { url: 'https://analytics.example/dashboard/sign-in#…', expiresAt: AT },
  },
  'DELETE /accounts/:accountId/sessions': {
    operationId: 'endSessions',
    summary: 'Signs everybody of an account out',
    params: AccountParams,
    answer: z.strictObject({ ended: z.int() }),
    example: { ended: 2 },
  },
  'GET /accounts/:accountId/members': {
    operationId: 'listMembers',
    summary: 'Who may sign in to an account',
    params: AccountParams,
    answer: z.array(answers.Member),
    example: [member],
  },
  'PUT /accounts/:accountId/members/:email': {
    operationId: 'setMember',
    summary: 'Lets a person sign in, as owner or viewer',
    params: MemberParams,
    body: { schema: RoleBody, example: { role: 'owner' } },
    answer: answers.Member,
    example: member,
  },
  'DELETE /accounts/:accountId/members/:email': {
    operationId: 'removeMember',
    summary: 'Takes that away, and signs the person out',
    params: MemberParams,
    answer: z.strictObject({ accountId: z.string(), email: z.string(), removed: z.literal(true) }),
    example: { accountId: ACCOUNT, email: 'ada@example.com', removed: true },
  },
  'GET /audit': {
    operationId: 'listAudit',
    summary: 'Who did what, newest first',
    answer: z.array(answers.AuditEntry),
    example: [entry],
  },
  'GET /accounts/:accountId/audit': {
    operationId: 'listAuditOfAccount',
    summary: 'Who did what in an account, newest first',
    params: AccountParams,
    answer: z.array(answers.AuditEntry),
    example: [entry],
  },
});
