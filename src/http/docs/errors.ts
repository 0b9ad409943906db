import { ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';

/** The meaning of an error, and the remedy for its caller. */
interface Explained {
  readonly meaning: string;
  readonly remedy: string;
  /** Whether the same request can succeed later without a correction. */
  readonly retry: 'no' | 'after Retry-After';
}

/** Every code, in the order of ERROR_CODES. */
const EXPLAINED: Readonly<Record<ErrorCode, Explained>> = {
  bad_request: {
    meaning: 'The request is not valid HTTP, its path cannot be decoded, or it did not arrive in time.',
    remedy: 'Look at what the client or a proxy in between has sent.',
    retry: 'no',
  },
  validation_failed: {
    meaning: 'A parameter or a field of the body is missing, unknown, repeated or malformed.',
    remedy: '`errors` names each field with a message that says what to send. Correct them all at once.',
    retry: 'no',
  },
  beyond_retention: {
    meaning:
      'The range cuts an hour whose single events have expired, so its pages, events or KPIs cannot be counted exactly. Sessions are not affected.',
    remedy:
      'Ask with the bounds in `nearest`: they are whole hours (UTC) where events have expired. For KPIs, the period before counts, too.',
    retry: 'no',
  },
  unauthorized: {
    meaning:
      'The credential is missing, unknown, expired or revoked. Which of these is not said. An app’s secret is no API key.',
    remedy: 'Send `Authorization: Bearer <API key>`. Make a new key if this one has ended.',
    retry: 'no',
  },
  too_many_invalid_attempts: {
    meaning: 'More than 30 wrong credentials came from this address within 60 seconds.',
    remedy: 'Stop the sender of the wrong credential. A valid one from the same address still works.',
    retry: 'after Retry-After',
  },
  app_access_denied: {
    meaning:
      'The account neither owns this app nor has it shared. An app that does not exist gets the same answer. At the SDK’s endpoint: the page’s origin is not of the app’s domain.',
    remedy: 'Take the id from `GET /api/v1/apps`, or let the owner share the app with your account.',
    retry: 'no',
  },
  plan_blocked: {
    meaning:
      'The account’s plan does not allow this: it has no analytics, or no room for another app. Or the account has 100 valid API keys.',
    remedy: 'Ask the operator for another plan, or revoke keys that are no longer used.',
    retry: 'no',
  },
  forbidden: {
    meaning:
      'In the console: a viewer wants to change something, the last owner would go, a sign-in failed, or another site’s page asks.',
    remedy: 'Ask an owner of the account, or sign in again.',
    retry: 'no',
  },
  not_found: {
    meaning: 'There is nothing at this path, or no thing with this id.',
    remedy: 'Compare the path with the reference. Paths are exact: case and slashes count.',
    retry: 'no',
  },
  method_not_allowed: {
    meaning: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods that the `Allow` header names.',
    retry: 'no',
  },
  domain_conflict: {
    meaning: 'The account already has an app with this host and port. The scheme does not count.',
    remedy: 'Use the app that is there. `GET /api/v1/apps` lists it.',
    retry: 'no',
  },
  payload_too_large: {
    meaning: 'The body is larger than the endpoint takes.',
    remedy: 'Send less at once. `detail` names the limit in bytes.',
    retry: 'no',
  },
  uri_too_long: {
    meaning: 'The URL is longer than 8,192 bytes.',
    remedy: 'Send shorter parameters.',
    retry: 'no',
  },
  unsupported_media_type: {
    meaning: 'The body is not in a form that the endpoint takes.',
    remedy: 'Send JSON in UTF-8, uncompressed, with `Content-Type: application/json`.',
    retry: 'no',
  },
  rate_limited: {
    meaning:
      'The key has used up its window of 60 seconds. All callers with one key share it. In the console, a person has such a window for each account, and an address for its attempts to sign in.',
    remedy:
      'Wait for `retryAfterSeconds` and a random time more, then longer after each further failure. Never send again at once.',
    retry: 'after Retry-After',
  },
  headers_too_large: {
    meaning: 'The request’s headers are larger than 16,384 bytes.',
    remedy: 'Send fewer or shorter headers; often it is cookies of another service on the same host.',
    retry: 'no',
  },
  internal: {
    meaning: 'A fault of the service. It is logged with the `requestId`.',
    remedy: 'Tell the operator the `requestId`.',
    retry: 'no',
  },
  overloaded: {
    meaning: 'Too much work is waiting, the store is overloaded, or this process is shutting down.',
    remedy: 'Send the same request later. Batches of the SDK keep their `batchId`.',
    retry: 'after Retry-After',
  },
  store_unavailable: {
    meaning: 'The store does not answer, or cannot store anything at the moment.',
    remedy: 'Send the same request later. Batches of the SDK keep their `batchId`.',
    retry: 'after Retry-After',
  },
};

const CODES = Object.keys(ERROR_CODES) as ErrorCode[];

const section = (code: ErrorCode): string => {
  const { status, title } = ERROR_CODES[code];
  const { meaning, remedy, retry } = EXPLAINED[code];
  return `
## ${code}

**${status} ${title}**

${meaning}

**What to do:** ${remedy}

**The same request again:** ${retry === 'no' ? 'no.' : 'yes, after as many seconds as the `Retry-After` header says.'}
`;
};

/** The text of docs/errors.md, and of the page that the `type` of every problem links to. */
export const errorsText = (): string => `# Errors

Every error is an RFC 9457 problem, with the content type \`application/problem+json\`:

\`\`\`json
{
  "type": "/docs/errors#validation_failed",
  "title": "Bad Request",
  "status": 400,
  "code": "validation_failed",
  "detail": "One or more fields are invalid.",
  "requestId": "01KAG3V7M0Q8ZJ4T5W6X7Y8Z9A",
  "errors": [{ "field": "limit", "message": "Must be a whole number from 1 to 10000." }]
}
\`\`\`

Decide by \`code\`: the list below is closed. \`type\` is the address of the code's section on the service that answered.
\`detail\` and the messages are for people, and their wording may change. \`errors\` comes only with \`validation_failed\`
and has at most 20 entries. \`retryAfterSeconds\` comes only with 429. \`requestId\` is also the header \`X-Request-Id\`;
name it when you ask for help.

Under \`/api/v1\` the checks have one order: 401, 429, 404 and 405, 415 and 413, 400, 403, 409. Every answer after the
401 counts in the key's window, errors too.
${CODES.map(section).join('')}`;
