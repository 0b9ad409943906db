/** A typed client of the Public API: no dependencies, for Node 20 or later and bundlers. See docs/examples.md. */
export { createClient } from './client.ts';
export { ApiError, ConnectionError } from './errors.ts';
export type {
  CallOptions,
  Client,
  ClientOptions,
  CreatedApp,
  Data,
  NewApp,
  Params,
  PollOptions,
  Question,
  RateLimit,
  Result,
} from './types.ts';
