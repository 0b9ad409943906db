import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import { AppError } from '../domain/errors.ts';
import { isError } from '../domain/thrown.ts';
import type { Span, SpanEnd, SpanOptions, Tracer } from '../domain/tracing.ts';
import { VERSION } from '../version.ts';

const NAME = 'session-analytics';
/** The longest that the end of the process waits for the collector. */
const CLOSE_MS = 2_000;
/** A collector that is away stays away for a while. One line a minute is enough. */
const COMPLAIN_EVERY_MS = 60_000;

export interface TracingOptions {
  /** The collector's address without a path. Traces are sent to `/v1/traces` as JSON over HTTP. */
  readonly endpoint: string;
  readonly log: Logger;
}

/**
 * Starts to send traces. The packages read all other settings from OpenTelemetry's standard variables, such as
 * OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER.
 */
export function startTracing({ endpoint, log }: TracingOptions): Tracer {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': NAME, 'service.version': VERSION }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporterTo(endpoint, log))],
  });
  const tracer = provider.getTracer(NAME, VERSION);
  return {
    request: (headers) => {
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      return new TracedSpan(tracer, tracer.startSpan('request', { kind: SpanKind.SERVER }, parent), parent);
    },
    close: async () => {
      await Promise.race([
        provider.shutdown().catch(() => undefined),
        sleep(CLOSE_MS, undefined, { ref: false }),
      ]);
    },
  };
}

const propagator = new W3CTraceContextPropagator();

/** An exporter that says in the log when the collector does not take the spans. They are lost then. */
function exporterTo(endpoint: string, log: Logger): OTLPTraceExporter {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const send = exporter.export.bind(exporter);
  let complainedAt = Number.NEGATIVE_INFINITY;
  exporter.export = (spans, onResult) =>
    send(spans, (result) => {
      const now = performance.now();
      if (result.code !== ExportResultCode.SUCCESS && now - complainedAt > COMPLAIN_EVERY_MS) {
        complainedAt = now;
        log.warn({ err: result.error }, 'the collector at OTEL_EXPORTER_OTLP_ENDPOINT does not take traces');
      }
      onResult(result);
    });
  return exporter;
}

class TracedSpan implements Span {
  readonly #tracer: OtelTracer;
  readonly #span: OtelSpan;
  readonly #context: Context;

  constructor(tracer: OtelTracer, span: OtelSpan, parent: Context) {
    this.#tracer = tracer;
    this.#span = span;
    this.#context = trace.setSpan(parent, span);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    propagator.inject(this.#context, headers, defaultTextMapSetter);
    return headers;
  }

  child(name: string, { isCall = false, attributes = {}, links = [] }: SpanOptions = {}): Span {
    const options = {
      kind: isCall ? SpanKind.CLIENT : SpanKind.INTERNAL,
      attributes,
      links: links.filter((link) => link instanceof TracedSpan).map((link) => link.#link),
    };
    const span = this.#tracer.startSpan(name, options, this.#context);
    return new TracedSpan(this.#tracer, span, this.#context);
  }

  link(span: Span): void {
    if (span instanceof TracedSpan) this.#span.addLink(span.#link);
  }

  get #link() {
    return { context: this.#span.spanContext() };
  }

  end({ name, attributes = {}, error }: SpanEnd = {}): void {
    if (name !== undefined) this.#span.updateName(name);
    this.#span.setAttributes(attributes);
    if (error !== undefined) {
      // Not its message: an engine's message may hold data.
      this.#span.setAttribute('error.type', typeOf(error));
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: typeOf(error) });
    }
    this.#span.end();
  }
}

function typeOf(error: unknown): string {
  if (error instanceof AppError) return error.code;
  return isError(error) ? error.name : 'unknown';
}
