/** A typed client of the Public API: no dependencies, for Node 20 or later and bundlers. See docs/examples.md. */
export type * from './answers.ts';
export { createClient } from './client.ts';
export { ApiError, ConnectionError, type ErrorCode, type FieldError, type Nearest } from './errors.ts';
export type {
  AppParams,
  CallOptions,
  Client,
  ClientOptions,
  Data,
  DownloadOptions,
  Format,
  Instant,
  ListParams,
  ListQuestion,
  LiveAnswer,
  LiveQuestion,
  NoParams,
  Params,
  PollOptions,
  Question,
  RangeParams,
  RateLimit,
  Result,
} from './types.ts';
