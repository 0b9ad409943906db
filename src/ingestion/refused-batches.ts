import { AppError } from '../domain/errors.ts';
import type { Waiting } from './batch-buffer.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import type { Refused } from './retry.ts';

/**
 * The error if a part of a batch is stored, or if there is no room to put it aside. The sender repeats it.
 */
export const notNow = (): AppError =>
  new AppError('store_unavailable', 'The store cannot take this batch now. Send it again.', {
    retryAfterSeconds: 60,
  });

/** The error for a batch that was put aside. It is final for the sender, like any other invalid batch. */
export const putAside = (cause: Refused): AppError =>
  new AppError('validation_failed', 'The store cannot take this batch.', {
    errors: [
      {
        field: 'sessions',
        message:
          'The store refuses what they hold. The batch was put aside for the operator: do not send it again.',
      },
    ],
    cause,
  });

/**
 * Rejects batches of which nothing is stored, or whose outcome is unknown. The journal holds the latter for
 * the next start.
 */
export function rejectAll(group: readonly Waiting[], error: unknown): void {
  const failure =
    error instanceof AppError
      ? error
      : new AppError('internal', 'The batch cannot be stored.', { cause: error });
  for (const batch of group) batch.reject(failure);
}

/** Splits a refused group: the batches that are the reason go apart from the others, or one half from the other. */
export function partsOf(group: readonly Waiting[], reasons: readonly BatchKey[]): (readonly Waiting[])[] {
  const isReason = new Set(reasons.map(batchKey));
  const others = group.filter((batch) => !isReason.has(batchKey(batch)));
  if (others.length > 0 && others.length < group.length) {
    return [others, group.filter((batch) => isReason.has(batchKey(batch)))];
  }
  const half = Math.ceil(group.length / 2);
  return [group.slice(0, half), group.slice(half)];
}
