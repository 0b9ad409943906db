import express from 'express';
import { z } from 'zod';
import { sdkScriptRouter } from '../../src/http/routes/sdk-script.ts';
import { serve } from './servers.ts';

const Id = z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/);
const Instant = z.iso.datetime({ precision: 3 });
const base = {
  timestamp: Instant,
  path: z
    .string()
    .regex(/^\/[^?#]*$/)
    .max(2048),
};
const Event = z.discriminatedUnion('type', [
  z.strictObject({ ...base, type: z.literal('pageview') }),
  z.strictObject({ ...base, type: z.literal('click'), target: z.string().min(1).max(512) }),
  z.strictObject({ ...base, type: z.literal('error'), message: z.string().min(1).max(1024) }),
  z.strictObject({ ...base, type: z.literal('engagement'), durationMs: z.int().min(1).max(86_400_000) }),
  z.strictObject({
    ...base,
    type: z.literal('custom'),
    name: z.string().min(1).max(512),
    properties: z
      .record(z.string().min(1).max(64), z.union([z.string().max(512), z.number(), z.boolean()]))
      .optional(),
  }),
]);
const Session = z.strictObject({
  id: Id,
  visitorId: Id,
  startedAt: Instant,
  context: z.strictObject({
    referrer: z.string().max(2048).optional(),
    utm: z.partialRecord(z.enum(['source', 'medium', 'campaign', 'term', 'content']), z.string()).optional(),
    language: z.string().optional(),
    screen: z.string().optional(),
    userAgent: z.string().optional(),
  }),
  events: z.array(Event).min(1),
});
/** The exact form of a browser's batch: one session and no unknown fields. */
const Envelope = z.strictObject({
  appId: z.uuid(),
  secretKey: z.string(),
  batchId: z.uuid(),
  sentAt: Instant,
  sessions: z.tuple([Session]),
});

export type Event = z.infer<typeof Event>;
export type Session = z.infer<typeof Session>;

/**
 * How the collector treats a request. `lose`: takes the batch and cuts the connection instead of answering.
 * `cut`: cuts the connection and does not take the batch.
 */
export type Answer =
  | 'take'
  | 'lose'
  | 'cut'
  | { readonly status: number; readonly retryAfter?: number; readonly body?: string };

export interface Delivery {
  readonly batchId: string;
  readonly at: number;
  readonly events: readonly Event[];
  readonly text: string;
}

/** A stand-in for the service. It refuses requests, loses answers, and remembers every request. */
export interface Collector {
  readonly origin: string;
  /** The next answers, in order; then `otherwise`. */
  answers: Answer[];
  otherwise: Answer;
  /** Every request, with the faults of its form. */
  readonly deliveries: Delivery[];
  readonly malformed: string[];
  /** The sessions that count: each batchId once. */
  sessions(): Session[];
  events(): Event[];
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const taken = new Map<string, Session>();
  const app = express();
  app.use(sdkScriptRouter());
  app.post('/sdk/v1/events', express.text({ limit: '1mb' }), (req, res) => {
    const text = String(req.body);
    const parsed = Envelope.safeParse(JSON.parse(text));
    if (!parsed.success) {
      collector.malformed.push(`${text}\n${parsed.error.message}`);
      res.status(400).end();
      return;
    }
    const { batchId, sessions } = parsed.data;
    collector.deliveries.push({ batchId, at: Date.now(), events: sessions[0].events, text });
    const answer = collector.answers.shift() ?? collector.otherwise;
    if ((answer === 'take' || answer === 'lose') && !taken.has(batchId)) taken.set(batchId, sessions[0]);
    if (answer === 'lose' || answer === 'cut') {
      req.socket.destroy();
      return;
    }
    res.setHeader('Access-Control-Allow-Origin', req.get('Origin') ?? '');
    res.setHeader('Access-Control-Expose-Headers', 'Retry-After');
    if (answer === 'take') {
      res.json({ accepted: sessions[0].events.length, rejected: [] });
      return;
    }
    if (answer.retryAfter !== undefined) res.setHeader('Retry-After', String(answer.retryAfter));
    res.status(answer.status).send(answer.body);
  });
  const site = await serve('stats.test', app);
  const collector: Collector = {
    origin: site.origin,
    answers: [],
    otherwise: 'take',
    deliveries: [],
    malformed: [],
    sessions: () => [...taken.values()],
    events: () => [...taken.values()].flatMap(({ events }) => events).sort(byTime),
    close: site.close,
  };
  return collector;
}

const byTime = (a: Event, b: Event): number => a.timestamp.localeCompare(b.timestamp);
