import type { ErrorCode } from '../../domain/errors.ts';
import type { Described } from '../../http/docs/openapi-document.ts';

const EVERYWHERE: readonly ErrorCode[] = ['bad_request', 'unauthorized', 'internal', 'store_unavailable'];
const WITH_ID: readonly ErrorCode[] = ['validation_failed', 'not_found'];
const WITH_BODY: readonly ErrorCode[] = ['validation_failed', 'payload_too_large', 'unsupported_media_type'];

interface Part extends Omit<Described, 'tag' | 'errors'> {
  readonly errors?: readonly ErrorCode[];
}

/** Adds the errors that follow from an operation's form. */
export const tagged = (tag: string, parts: Readonly<Record<string, Part>>): Record<string, Described> =>
  Object.fromEntries(
    Object.entries(parts).map(([route, { errors = [], ...part }]) => [
      route,
      {
        ...part,
        tag,
        errors: [
          ...EVERYWHERE,
          ...(part.params === undefined ? [] : WITH_ID),
          ...(part.body === undefined ? [] : WITH_BODY),
          ...errors,
        ],
      },
    ]),
  );
