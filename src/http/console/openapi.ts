import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import { KeyBody } from '../../management/schemas.ts';
import { type Described, documentOf } from '../docs/openapi-document.ts';
import type { Documentation } from '../docs/reference/documentation.ts';
import type { Reference } from '../docs/site.ts';
import {
  AccountBody,
  AppPath,
  DeletionBody,
  ExclusionsBody,
  InvitationBody,
  KeyPath,
  LinkBody,
  LinkPath,
  MemberPath,
  NamedRetentionBody,
  NewLinkBody,
  OriginsBody,
  RoleBody,
  RotateKeyBody,
  RotateSecretBody,
  SegmentBody,
  SegmentPath,
  SharePath,
} from './bodies.ts';
import { ConsoleAnswers, LinkAnswer } from './schemas.ts';

const EVERYWHERE: readonly ErrorCode[] = ['bad_request', 'rate_limited', 'internal', 'store_unavailable'];
const SIGNED_IN: readonly ErrorCode[] = ['unauthorized'];
const CHANGES: readonly ErrorCode[] = ['forbidden'];
const WITH_ID: readonly ErrorCode[] = ['validation_failed', 'not_found'];
const WITH_BODY: readonly ErrorCode[] = ['validation_failed', 'payload_too_large', 'unsupported_media_type'];

type Route = keyof typeof ConsoleAnswers;

interface Part {
  readonly operationId: string;
  readonly summary: string;
  readonly tag: 'Sign-in' | 'Keys' | 'Sharing' | 'Links' | 'Members' | 'Account';
  readonly params?: z.ZodObject;
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown };
  readonly status?: 201;
  readonly errors?: readonly ErrorCode[];
}

const ID = '7c9a1c7e-0d1b-4a53-9b0c-55f3a1f0b8d2';

const SEGMENT = { name: 'Phones in Iran', segment: 'country==IR;device==mobile' };

const PARTS: { readonly [R in Route]: Part } = {
  'GET /sign-in': {
    operationId: 'getWaysToSignIn',
    summary: 'Whether people can sign in with OpenID Connect, at /dashboard/api/sign-in/oidc',
    tag: 'Sign-in',
  },
  'POST /sign-in/link': {
    operationId: 'signInByLink',
    summary: 'Signs in with the token of a one-time link, and sets the cookie',
    tag: 'Sign-in',
    body: { schema: LinkBody, example: { token: '…' } },
  },
  'POST /sign-out': { operationId: 'signOut', summary: 'Ends the session', tag: 'Sign-in' },
  'GET /session': {
    operationId: 'getSession',
    summary: 'Who is signed in, and the accounts to choose from',
    tag: 'Sign-in',
  },
  'PUT /session/account': {
    operationId: 'chooseAccount',
    summary: 'Goes over to another account of the same person',
    tag: 'Sign-in',
    body: { schema: AccountBody, example: { accountId: ID } },
  },
  'GET /keys': { operationId: 'listKeys', summary: "The account's API keys", tag: 'Keys' },
  'POST /keys': {
    operationId: 'createKey',
    summary: 'Creates an API key, which is shown only in this answer',
    tag: 'Keys',
    body: { schema: KeyBody, example: { name: 'reports' } },
    status: 201,
    errors: ['plan_blocked'],
  },
  'POST /keys/:keyId/rotate': {
    operationId: 'rotateKey',
    summary: 'Makes a new key in the place of one, which lives on for the overlap',
    tag: 'Keys',
    params: KeyPath,
    body: { schema: RotateKeyBody, example: { overlapSeconds: 86_400 } },
    status: 201,
    errors: ['plan_blocked'],
  },
  'POST /keys/:keyId/revoke': {
    operationId: 'revokeKey',
    summary: 'Ends a key',
    tag: 'Keys',
    params: KeyPath,
  },
  'POST /apps/:appId/rotate-secret': {
    operationId: 'rotateSecret',
    summary: "Makes a new secret for an app's SDK",
    tag: 'Sharing',
    params: AppPath,
    body: { schema: RotateSecretBody, example: { overlapSeconds: 86_400 } },
    status: 201,
  },
  'POST /apps/:appId/delete': {
    operationId: 'deleteApp',
    summary: 'Deletes an app with all its data, if the name is the right one',
    tag: 'Sharing',
    params: AppPath,
    body: { schema: DeletionBody, example: { name: 'Shop' } },
  },
  'GET /apps/:appId/retention': {
    operationId: 'getRetention',
    summary: "For how long an app's raw events are kept",
    tag: 'Sharing',
    params: AppPath,
  },
  'PUT /apps/:appId/retention': {
    operationId: 'setRetention',
    summary: 'Sets for how many days raw events are kept. Nothing is deleted within an hour',
    tag: 'Sharing',
    params: AppPath,
    body: { schema: NamedRetentionBody, example: { days: 395, name: 'Shop' } },
  },
  'GET /apps/:appId/excluded-addresses': {
    operationId: 'getExcludedAddresses',
    summary: 'The addresses whose events an app leaves out',
    tag: 'Sharing',
    params: AppPath,
  },
  'PUT /apps/:appId/excluded-addresses': {
    operationId: 'setExcludedAddresses',
    summary: 'Replaces the list of addresses whose events an app leaves out, within 5 s. At most 100',
    tag: 'Sharing',
    params: AppPath,
    body: { schema: ExclusionsBody, example: { addresses: ['192.0.2.0/24', '2001:db8::/32'] } },
  },
  'GET /apps/:appId/shares': {
    operationId: 'listSharesOfApp',
    summary: 'The accounts that see an app',
    tag: 'Sharing',
    params: AppPath,
  },
  'PUT /apps/:appId/shares/:accountId': {
    operationId: 'shareApp',
    summary: "Lets another account read an app's analytics",
    tag: 'Sharing',
    params: SharePath,
  },
  'DELETE /apps/:appId/shares/:accountId': {
    operationId: 'unshareApp',
    summary: 'Takes that away',
    tag: 'Sharing',
    params: SharePath,
  },
  'GET /apps/:appId/links': {
    operationId: 'listLinks',
    summary: "The links that show an app's analytics to people without an account",
    tag: 'Links',
    params: AppPath,
  },
  'POST /apps/:appId/links': {
    operationId: 'createLink',
    summary: 'Makes a link, whose token is shown only in this answer',
    tag: 'Links',
    params: AppPath,
    body: {
      schema: NewLinkBody,
      example: {
        name: 'Partners',
        segment: 'country==IR',
        origins: ['https://partner.example'],
        expiresAt: '2027-01-31T00:00:00Z',
      },
    },
    status: 201,
    errors: ['plan_blocked'],
  },
  'PUT /apps/:appId/links/:linkId/origins': {
    operationId: 'setLinkOrigins',
    summary: 'Sets which sites may show a link in a frame. At most 10',
    tag: 'Links',
    params: LinkPath,
    body: { schema: OriginsBody, example: { origins: ['https://partner.example'] } },
  },
  'POST /apps/:appId/links/:linkId/revoke': {
    operationId: 'revokeLink',
    summary: 'Ends a link',
    tag: 'Links',
    params: LinkPath,
  },
  'GET /members': {
    operationId: 'listMembers',
    summary: 'The members, and until when an unused link signs each of them in',
    tag: 'Members',
  },
  'POST /members': {
    operationId: 'inviteMember',
    summary:
      'Makes somebody a member, and a link that signs the member in once, within 7 days. Again with the same role for another link',
    tag: 'Members',
    body: { schema: InvitationBody, example: { email: 'ada@example.com', role: 'viewer' } },
    status: 201,
    errors: ['plan_blocked'],
  },
  'PUT /members/:email': {
    operationId: 'setRole',
    summary: 'Gives a member another role. The last owner stays one',
    tag: 'Members',
    params: MemberPath,
    body: { schema: RoleBody, example: { role: 'owner' } },
  },
  'DELETE /members/:email': {
    operationId: 'removeMember',
    summary: 'Ends a membership with its sessions. The last owner stays',
    tag: 'Members',
    params: MemberPath,
  },
  'GET /segments': {
    operationId: 'listSegments',
    summary: 'The segments that the account has saved, by name',
    tag: 'Account',
  },
  'POST /segments': {
    operationId: 'saveSegment',
    summary: 'Saves a segment under a name that the account has not used yet. At most 100',
    tag: 'Account',
    body: { schema: SegmentBody, example: SEGMENT },
    status: 201,
  },
  'PUT /segments/:segmentId': {
    operationId: 'changeSegment',
    summary: 'Gives a saved segment another name, or other conditions',
    tag: 'Account',
    params: SegmentPath,
    body: { schema: SegmentBody, example: SEGMENT },
  },
  'DELETE /segments/:segmentId': {
    operationId: 'deleteSegment',
    summary: 'Deletes a saved segment. The analytics stay as they are',
    tag: 'Account',
    params: SegmentPath,
  },
  'GET /usage': {
    operationId: 'getUsage',
    summary: 'Requests and 429s of each key in the last 24 hours',
    tag: 'Account',
  },
  'GET /audit': { operationId: 'listAudit', summary: 'Who did what, newest first', tag: 'Account' },
};

const described = ([route, part]: [string, Part]): [string, Described] => {
  const [method = ''] = route.split(' ');
  const isOpen = route === 'GET /sign-in' || route === 'POST /sign-in/link';
  return [
    route.replace(' ', ' /dashboard/api'),
    {
      ...part,
      answer: ConsoleAnswers[route as Route],
      errors: [
        ...EVERYWHERE,
        ...(isOpen && method === 'GET' ? [] : SIGNED_IN),
        ...(method === 'GET' ? [] : CHANGES),
        ...(part.params === undefined ? [] : WITH_ID),
        ...(part.body === undefined ? [] : WITH_BODY),
        ...(part.errors ?? []),
      ],
    },
  ];
};

/** What somebody who opened a link asks, besides the app's analytics. */
const OF_A_LINK: Described = {
  operationId: 'getLink',
  summary: 'What a link shows',
  description:
    "The app, the segment and the expiry of the link whose token is the credential. The app's analytics are those of the Public API, below /shared/api/v1.",
  tag: 'Links',
  credential: 'link',
  answer: LinkAnswer,
  errors: [...EVERYWHERE, 'unauthorized', 'too_many_invalid_attempts', 'not_found'],
};

/** Its page of the reference. */
export const consoleReference = (): Reference => ({
  path: '/docs/console',
  title: "The console's API",
  credential: null,
  chapters: [
    {
      address: '/openapi/console.json',
      document: consoleDocument(),
      dialect: { variable: '', hasClient: false },
    },
  ],
});

/** OpenAPI of the console's own API. Its analytics are those of the Public API, below /dashboard/api/v1. */
export const consoleDocument = (): Documentation =>
  documentOf({
    title: "The console's API",
    description: `What the console at /dashboard asks. Programs use the Public API: this one belongs to the console's own pages and
changes with them. The session is a cookie, and a request that changes something must come from a page of the console.`,
    tags: [
      { name: 'Sign-in', description: 'Sessions of people.' },
      { name: 'Keys', description: "The account's API keys." },
      { name: 'Sharing', description: "The account's apps, beyond what the Public API does." },
      { name: 'Links', description: "An app's analytics for people without an account." },
      { name: 'Members', description: 'The people of the account.' },
      { name: 'Account', description: 'What happened in the account.' },
    ],
    credential: {
      name: 'session',
      scheme: {
        type: 'apiKey',
        in: 'cookie',
        name: 'analytics_session',
        description: 'Set by a sign-in: HttpOnly, SameSite=Strict.',
      },
    },
    otherCredentials: {
      link: { type: 'http', scheme: 'bearer', description: "A link's token: the fragment of its address." },
    },
    headers: [],
    operations: {
      ...Object.fromEntries(Object.entries(PARTS).map(described)),
      'GET /shared/api/link': OF_A_LINK,
    },
  });
