import { AppError } from '../domain/errors.ts';
import { isError } from '../domain/thrown.ts';
import type { StoreLocation } from './connect.ts';

/** Engine error codes for "not now", as opposed to "never". */
const OVERLOADED = new Set([
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  173, // CANNOT_ALLOCATE_MEMORY
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  241, // MEMORY_LIMIT_EXCEEDED
  252, // TOO_MANY_PARTS
  396, // TOO_MANY_ROWS_OR_BYTES
  745, // SERVER_OVERLOADED
]);
const UNAVAILABLE = new Set([
  3, // UNEXPECTED_END_OF_FILE
  32, // ATTEMPT_TO_READ_AFTER_EOF
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  164, // READONLY
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  225, // NO_ZOOKEEPER
  236, // ABORTED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  254, // NO_ACTIVE_REPLICAS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED, by a server that shuts down, or by its operator
  439, // CANNOT_SCHEDULE_TASK
  516, // AUTHENTICATION_FAILED
  668, // INVALID_STATE
  999, // KEEPER_EXCEPTION
]);
const NETWORK = /ECONN|EPIPE|ETIMEDOUT|EAI_|ENOTFOUND|EHOST|ENETUN|socket hang up|timeout|aborted|closed/i;

/** The engine's numeric error code, or null for any other error. */
export function engineCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  const code = Number(error.code);
  return Number.isInteger(code) && code > 0 ? code : null;
}

/**
 * Returns the error that the caller of a failed statement gets: a 503 if a later try can succeed, otherwise
 * the error itself, a bug. On a server, an error without an engine code comes from the network or from a
 * proxy. The engine's own words stay in `cause`, for the log.
 */
export function storeError(error: unknown, kind: StoreLocation['kind']): unknown {
  if (error instanceof AppError) return error;
  const code = engineCode(error);
  if (code !== null && OVERLOADED.has(code)) {
    return new AppError('overloaded', 'The store is overloaded. Try again shortly.', {
      retryAfterSeconds: 2,
      cause: error,
    });
  }
  const message = isError(error)
    ? `${error.name} ${error.message} ${String('code' in error ? error.code : '')}`
    : '';
  const isOutside = code === null && (kind === 'server' || NETWORK.test(message));
  if (isOutside || (code !== null && UNAVAILABLE.has(code))) {
    return new AppError('store_unavailable', 'The store does not answer. Try again shortly.', {
      retryAfterSeconds: 5,
      cause: error,
    });
  }
  return error;
}
