import { z } from 'zod';
import { EnvelopeSchema, MAX_EVENTS, MAX_SESSIONS } from '../../ingestion/wire.ts';
import { documentOf } from './openapi-document.ts';
import { EXAMPLE_APP } from './openapi-examples.ts';
import type { Documentation } from './reference/documentation.ts';

const Id = z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/);
const Instant = z
  .string()
  .meta({ description: 'RFC 3339, with an offset or Z.', override: { format: 'date-time' } });
const Path = z.string().regex(/^\//).meta({ description: 'Query and fragment are cut off.' });
const eventOf = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.object({ type: z.literal(type), timestamp: Instant, path: Path, ...fields });
const Text = z.string().min(1);
const Properties = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).meta({
  description: 'At most 20, with names of 1 to 64 characters. Texts are cut after 256 characters.',
  override: { maxProperties: 20 },
});

/** An event as senders send it. The service checks sessions and events one by one, and names the wrong ones in its answer. */
const SentEvent = z
  .discriminatedUnion('type', [
    eventOf('pageview', {}),
    eventOf('click', { target: z.string().optional() }),
    eventOf('error', { message: Text }),
    eventOf('engagement', { durationMs: z.int().min(0).max(86_400_000) }),
    eventOf('custom', { name: Text, properties: Properties.optional() }),
  ])
  .meta({ id: 'SentEvent' });
const texts = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, z.string().optional()])) as Record<
    Name,
    z.ZodOptional<z.ZodString>
  >;
const SentSession = z
  .object({
    id: Id.meta({ description: 'Names the visit within the app, together with `startedAt`.' }),
    visitorId: Id.nullable().optional().meta({ description: 'Derived for one day if it is absent.' }),
    startedAt: Instant,
    context: z
      .object({
        ...texts('referrer', 'language', 'screen', 'userAgent'),
        utm: z.object(texts('source', 'medium', 'campaign', 'term', 'content')).optional(),
        location: z
          .object({
            ...texts('country', 'region', 'city'),
            latitude: z.number().min(-90).max(90).optional(),
            longitude: z.number().min(-180).max(180).optional(),
          })
          .optional(),
      })
      .optional(),
    events: z.array(SentEvent),
  })
  .meta({ id: 'SentSession' });

const Batch = EnvelopeSchema.extend({
  sessions: z.array(SentSession).meta({
    description: `At most ${MAX_SESSIONS} sessions and ${MAX_EVENTS} events. A browser sends one session.`,
  }),
  batchId: EnvelopeSchema.shape.batchId.meta({
    description: 'The same id again, within 7 days, stores nothing twice.',
    override: { format: 'uuid' },
  }),
  appId: EnvelopeSchema.shape.appId.meta({ override: { format: 'uuid' } }),
  secretKey: EnvelopeSchema.shape.secretKey.meta({
    description: "The app's secret, not an account's API key.",
  }),
  sentAt: Instant.optional().meta({ description: "The sender's clock at sending, to correct its times." }),
}).meta({ id: 'Batch' });

const REJECTION_CODES = [
  'invalid_session',
  'bot',
  'beyond_retention',
  'invalid_event',
  'timestamp_too_old',
  'timestamp_in_future',
  'outside_session',
] as const;

const Stored = z
  .strictObject({
    accepted: z
      .int()
      .min(0)
      .meta({ description: 'Events that are stored durably and count in every answer from now on.' }),
    rejected: z.array(
      z.strictObject({
        session: z.int().meta({ description: 'The index of the session in the batch.' }),
        event: z
          .int()
          .nullable()
          .meta({ description: 'The index of the event; null if the whole session is left out.' }),
        code: z.enum(REJECTION_CODES),
        message: z.string(),
      }),
    ),
    duplicate: z.literal(true).optional().meta({ description: 'Only if this batch was stored before.' }),
  })
  .meta({ id: 'StoredBatch' });

export const EXAMPLE_BATCH = {
  appId: EXAMPLE_APP,
  secretKey: 'app_secret_…',
  batchId: '0f8b2a51-6c0d-4e0a-9a52-3c1d7e6f4b20',
  sessions: [
    {
      id: 's-1',
      visitorId: 'v-1',
      startedAt: '2026-11-20T10:00:00.000Z',
      context: { referrer: 'https://www.google.com/', language: 'fa-IR', screen: '1920x1080' },
      events: [
        { type: 'pageview', timestamp: '2026-11-20T10:00:00.000Z', path: '/pricing' },
        { type: 'click', timestamp: '2026-11-20T10:00:04.000Z', path: '/pricing', target: '#buy' },
      ],
    },
  ],
} as const;

/** OpenAPI of the endpoint that the SDK sends to. */
export const ingestionDocument = (): Documentation =>
  documentOf({
    title: 'Ingestion',
    description: `Events of visits, sent with the app's own id and secret: from a server, or from a page of the app's domain. A 200
means that the accepted events are stored durably. \`/docs/ingestion\` says more, and \`/docs/sdk\` describes the script
that does all this in a page.`,
    tags: [{ name: 'Events', description: 'What visitors did.' }],
    credential: null,
    headers: [],
    operations: {
      'POST /sdk/v1/events': {
        operationId: 'sendEvents',
        summary: 'Stores the events of a batch, once',
        description:
          'Also takes the JSON as `text/plain`, which needs no preflight. At most 1 MiB. A wrong session or event does not affect the others. The errors 401 and 403 are about the credentials in the body and the `Origin` of the page.',
        tag: 'Events',
        body: { schema: Batch, example: EXAMPLE_BATCH },
        answer: Stored,
        example: { accepted: 2, rejected: [] },
        errors: [
          'bad_request',
          'validation_failed',
          'unauthorized',
          'too_many_invalid_attempts',
          'app_access_denied',
          'payload_too_large',
          'unsupported_media_type',
          'overloaded',
          'store_unavailable',
          'internal',
        ],
      },
    },
  });

const Alive = z.strictObject({ status: z.literal('ok') });
const Ready = z
  .strictObject({
    store: z.enum(['ok', 'disk full']).meta({
      description: '`disk full` for a minute after a statement found no room: events are refused.',
    }),
    status: z.enum(['ok', 'degraded']).meta({
      description:
        '`degraded` while Redis is away, so that each process limits by itself, or while the disk is full.',
    }),
    redis: z.enum(['ok', 'away', 'off']),
    sealing: z.strictObject({
      lagSeconds: z
        .record(z.string(), z.number())
        .meta({ description: 'Of the app that is furthest behind, by kind of facts.' }),
      lastRunAt: z.string().nullable(),
      measuredAt: z.string().nullable(),
    }),
  })
  .meta({ id: 'Readiness' });

/** Errors of requests that no route sees. */
const UNPARSED = ['bad_request', 'headers_too_large'] as const;

/** OpenAPI of the health checks. */
export const healthDocument = (): Documentation =>
  documentOf({
    title: 'Health',
    description: 'For load balancers and monitoring. No authentication, no limit.',
    tags: [
      { name: 'Health', description: 'Whether this process is alive, and whether it should get requests.' },
    ],
    credential: null,
    headers: ['ETag', 'Vary'],
    operations: {
      'GET /healthz': {
        operationId: 'getHealth',
        summary: 'Whether the process answers',
        tag: 'Health',
        answer: Alive,
        example: { status: 'ok' },
        errors: UNPARSED,
      },
      'GET /readyz': {
        operationId: 'getReadiness',
        summary: 'Whether the process should get requests',
        description:
          'The store answers, and the process is not shutting down. Redis may be away, or the disk full: that is still 200.',
        tag: 'Health',
        answer: Ready,
        example: {
          store: 'ok',
          status: 'ok',
          redis: 'off',
          sealing: { lagSeconds: { page: 0, session: 0 }, lastRunAt: null, measuredAt: null },
        },
        errors: [...UNPARSED, 'overloaded', 'store_unavailable'],
      },
    },
  });
