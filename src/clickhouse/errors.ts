import { AppError } from '../domain/errors.ts';
import { isNoRoom } from '../domain/no-room.ts';
import { isError, isOfSystem } from '../domain/thrown.ts';
import type { StoreLocation } from './connect.ts';

/** Engine error codes for "not now", as opposed to "never". */
const OVERLOADED = new Set([
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  173, // CANNOT_ALLOCATE_MEMORY
  201, // QUOTA_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  241, // MEMORY_LIMIT_EXCEEDED
  252, // TOO_MANY_PARTS
  364, // RECEIVED_ERROR_TOO_MANY_REQUESTS
  396, // TOO_MANY_ROWS_OR_BYTES
  574, // DISTRIBUTED_TOO_MANY_PENDING_BYTES
  692, // TOO_MANY_MUTATIONS
  745, // SERVER_OVERLOADED
  749, // TCP_CONNECTION_LIMIT_REACHED
  762, // HTTP_CONNECTION_LIMIT_REACHED
  776, // RESOURCE_LIMIT_EXCEEDED
  777, // MEMORY_RESERVATION_KILLED
  778, // MEMORY_RESERVATION_FAILED
]);
/**
 * The machine, its files, memory and threads, the network or other servers: a system call that fails, a file that is gone or
 * damaged, a table that is being opened.
 */
const UNAVAILABLE = new Set([
  3, // UNEXPECTED_END_OF_FILE
  23, // CANNOT_READ_FROM_ISTREAM
  24, // CANNOT_WRITE_TO_OSTREAM
  32, // ATTEMPT_TO_READ_AFTER_EOF
  33, // CANNOT_READ_ALL_DATA
  40, // CHECKSUM_DOESNT_MATCH
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  77, // CANNOT_CLOSE_FILE
  83, // DIRECTORY_DOESNT_EXIST
  87, // CANNOT_SEEK_THROUGH_FILE
  88, // CANNOT_TRUNCATE_FILE
  91, // SIZES_OF_MARKS_FILES_ARE_INCONSISTENT
  95, // CANNOT_READ_FROM_SOCKET
  96, // CANNOT_WRITE_TO_SOCKET
  107, // FILE_DOESNT_EXIST
  114, // CANNOT_CLOCK_GETTIME
  164, // READONLY
  172, // CANNOT_CREATE_DIRECTORY
  198, // DNS_ERROR
  203, // NO_FREE_CONNECTION
  204, // CANNOT_FSYNC
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  214, // CANNOT_STATVFS
  218, // TABLE_IS_DROPPED
  225, // NO_ZOOKEEPER
  226, // NO_FILE_IN_DATA_PART
  228, // BAD_SIZE_OF_FILE_IN_DATA_PART
  232, // NO_SUCH_DATA_PART
  234, // NO_REPLICA_HAS_PART
  236, // ABORTED
  239, // CANNOT_MUNMAP
  240, // CANNOT_MREMAP
  242, // TABLE_IS_READ_ONLY
  244, // UNEXPECTED_ZOOKEEPER_ERROR
  246, // CORRUPTED_DATA
  254, // NO_ACTIVE_REPLICAS
  255, // TOO_MANY_RETRIES_TO_FETCH_PARTS
  265, // NO_AVAILABLE_REPLICA
  271, // CANNOT_DECOMPRESS
  272, // CANNOT_IO_SUBMIT
  273, // CANNOT_IO_GETEVENTS
  274, // AIO_READ_ERROR
  275, // AIO_WRITE_ERROR
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  289, // REPLICA_IS_NOT_IN_QUORUM
  294, // CANNOT_WRITE_TO_FILE
  297, // SHARD_HAS_NO_CONNECTIONS
  298, // CANNOT_PIPE
  299, // CANNOT_FORK
  303, // CANNOT_SELECT
  319, // UNKNOWN_STATUS_OF_INSERT
  369, // ALL_REPLICAS_ARE_STALE
  384, // PART_IS_TEMPORARILY_LOCKED
  394, // QUERY_WAS_CANCELLED, by a server that shuts down, or by its operator
  400, // CANNOT_STAT
  402, // CANNOT_IOSETUP
  410, // EXTERNAL_SERVER_IS_NOT_RESPONDING
  411, // PTHREAD_ERROR
  423, // CANNOT_GETTIMEOFDAY
  424, // CANNOT_LINK
  425, // SYSTEM_ERROR
  439, // CANNOT_SCHEDULE_TASK
  445, // CANNOT_MPROTECT
  458, // CANNOT_UNLINK
  460, // CANNOT_CREATE_TIMER
  461, // CANNOT_SET_TIMER_PERIOD
  463, // CANNOT_FCNTL
  468, // CANNOT_PTHREAD_ATTR
  473, // DEADLOCK_AVOIDED
  504, // FILE_ALREADY_EXISTS
  516, // AUTHENTICATION_FAILED
  519, // NO_REMOTE_SHARD_AVAILABLE
  521, // ATOMIC_RENAME_FAIL
  531, // CANNOT_FSTAT
  566, // CANNOT_RMDIR
  573, // EPOLL_ERROR
  586, // CANNOT_CREATE_FILE
  590, // CANNOT_SYSCONF
  615, // CANNOT_ADVISE
  625, // IO_SETUP_ERROR
  635, // CANNOT_POLL
  641, // CANNOT_APPEND_TO_FILE
  642, // CANNOT_PACK_ARCHIVE
  643, // CANNOT_UNPACK_ARCHIVE
  662, // FS_METADATA_ERROR
  668, // INVALID_STATE
  678, // IO_URING_INIT_FAILED
  679, // IO_URING_SUBMIT_ERROR
  695, // ASYNC_LOAD_FAILED
  696, // ASYNC_LOAD_CANCELED
  733, // TABLE_IS_BEING_RESTARTED
  738, // PART_IS_LOCKED
  740, // POTENTIALLY_BROKEN_DATA_PART
  904, // TOO_MANY_UNAVAILABLE_SHARDS
  999, // KEEPER_EXCEPTION
  1000, // POCO_EXCEPTION
  1001, // STD_EXCEPTION: of the file system, of memory or of threads
]);
/** Codes that the values of rows can cause. An error with any other code is never blamed on rows. */
const OF_CONTENT = new Set([
  6, // CANNOT_PARSE_TEXT
  25, // CANNOT_PARSE_ESCAPE_SEQUENCE
  26, // CANNOT_PARSE_QUOTED_STRING
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  36, // BAD_ARGUMENTS
  38, // CANNOT_PARSE_DATE
  41, // CANNOT_PARSE_DATETIME
  53, // TYPE_MISMATCH
  69, // ARGUMENT_OUT_OF_BOUND
  70, // CANNOT_CONVERT_TYPE
  72, // CANNOT_PARSE_NUMBER
  117, // INCORRECT_DATA
  128, // TOO_LARGE_ARRAY_SIZE
  130, // CANNOT_READ_ARRAY_FROM_TEXT
  131, // TOO_LARGE_STRING_SIZE
  153, // ILLEGAL_DIVISION
  190, // SIZES_OF_ARRAYS_DONT_MATCH
  248, // INVALID_PARTITION_VALUE
  321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  376, // CANNOT_PARSE_UUID
  395, // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO
  407, // DECIMAL_OVERFLOW
  467, // CANNOT_PARSE_BOOL
  469, // VIOLATED_CONSTRAINT
  632, // UNEXPECTED_DATA_AFTER_PARSED_VALUE
  675, // CANNOT_PARSE_IPV4
  676, // CANNOT_PARSE_IPV6
  691, // UNKNOWN_ELEMENT_OF_ENUM
]);
/** The words of system calls that fail, and of the network. Read only if there is no code: rows may hold such words. */
const OUTSIDE =
  /errno: \d+, strerror: |filesystem error|Too many open files|No space left|Cannot allocate memory|Resource temporarily unavailable|Input\/output error|EMFILE|ENFILE|ENOSPC|ENOMEM|ECONN|EPIPE|ETIMEDOUT|EAI_|ENOTFOUND|EHOST|ENETUN|socket hang up|timeout|aborted|closed/i;

/** The engine's numeric error code, or null for any other error. */
export function engineCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  const code = Number(error.code);
  return Number.isInteger(code) && code > 0 ? code : null;
}

/**
 * True if the values of rows can be the reason of the error. An error of the machine or of the network never has such a
 * reason, nor has a table that is missing or damaged. The code decides: the words may be those of the rows.
 */
export function isOfContent(error: unknown): boolean {
  const code = engineCode(error);
  return code !== null && OF_CONTENT.has(code);
}

const wordsOf = (error: unknown): string =>
  isError(error) ? `${error.name} ${error.message} ${String('code' in error ? error.code : '')}` : '';

/**
 * Returns the error that the caller of a failed statement gets: a 503 if a later try can succeed, otherwise
 * the error itself, a bug. On a server, an error without an engine code comes from the network or from a
 * proxy. The engine's own words stay in `cause`, for the log.
 */
export function storeError(error: unknown, kind: StoreLocation['kind']): unknown {
  if (error instanceof AppError) return error;
  if (isNoRoom(error)) {
    return new AppError('store_unavailable', 'The store cannot do this at the moment. Try again later.', {
      forOperator: `The disk of the store is full. The service goes on by itself when there is room.`,
      retryAfterSeconds: 30,
      cause: error,
    });
  }
  const code = engineCode(error);
  if (code !== null && OVERLOADED.has(code)) {
    return new AppError('overloaded', 'The store is overloaded. Try again shortly.', {
      retryAfterSeconds: 2,
      cause: error,
    });
  }
  const isOutside = kind === 'server' || isOfSystem(error) || OUTSIDE.test(wordsOf(error));
  if (code === null ? isOutside : UNAVAILABLE.has(code)) {
    return new AppError('store_unavailable', 'The store does not answer. Try again shortly.', {
      retryAfterSeconds: 5,
      cause: error,
    });
  }
  return error;
}
