import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

/** A span as a collector gets it. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** '' for the first one of its trace. */
  readonly parentSpanId: string;
  /** 2: of an inbound request. 3: of a call. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly string[];
  /** 2: it failed. */
  readonly status: number;
}

/** A collector of OpenTelemetry, for traces as JSON over HTTP. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The attributes of the process that sent them. */
  readonly resource: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

const Attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const Body = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              name: z.string(),
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().default(''),
              kind: z.number(),
              attributes: z.array(Attribute),
              links: z.array(z.object({ spanId: z.string() })).default([]),
              status: z.object({ code: z.number().default(0) }),
            }),
          ),
        }),
      ),
    }),
  ),
});

export async function collector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const resource: Record<string, unknown> = {};
  const take = async (req: IncomingMessage): Promise<void> => {
    for (const group of Body.parse(await json(req)).resourceSpans) {
      Object.assign(resource, valuesOf(group.resource.attributes));
      for (const span of group.scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({
          ...span,
          attributes: valuesOf(span.attributes),
          links: span.links.map(({ spanId }) => spanId),
          status: span.status.code,
        });
      }
    }
  };
  const server = createServer((req, res) => {
    const answer = (status: number): void => {
      res.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    };
    if (req.method !== 'POST' || req.url !== '/v1/traces') answer(404);
    else
      take(req).then(
        () => answer(200),
        () => answer(400),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resource,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const valuesOf = (attributes: readonly z.infer<typeof Attribute>[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
