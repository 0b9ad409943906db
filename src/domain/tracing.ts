/*
 * Traces, as the parts of the service see them. `src/tracing` implements them with OpenTelemetry, and is loaded only if
 * traces are wanted. The names of attributes are those of OpenTelemetry's conventions, where it has one.
 */

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** True for a span that waits for another process. */
  readonly isCall?: boolean;
  readonly attributes?: Attributes;
  /** Spans that wait for this one, besides its parent. */
  readonly links?: readonly Span[];
}

/** How a span ended. */
export interface SpanEnd {
  /** A better name than the one at the beginning. */
  readonly name?: string;
  readonly attributes?: Attributes;
  /** Set if it failed. */
  readonly error?: unknown;
}

/** A timed part of a trace. */
export interface Span {
  readonly traceId: string;
  /** The headers of W3C Trace Context, for a request that is sent within the span. */
  readonly headers: Readonly<Record<string, string>>;
  child(name: string, options?: SpanOptions): Span;
  /** Names a span of another trace that this one waits for. */
  link(span: Span): void;
  end(end?: SpanEnd): void;
}

export interface Tracer {
  /** Begins the span of an inbound request, in the trace that its headers name, if any. */
  request(headers: Readonly<Record<string, string | string[] | undefined>>): Span;
  /** Sends the remaining spans, for some seconds at most. */
  close(): Promise<void>;
}
