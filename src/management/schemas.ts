import { z } from 'zod';
import { AppError, type FieldError } from '../domain/errors.ts';
import { accountId, appId, isUuid, keyId } from '../domain/ids.ts';
import { epochMs } from '../domain/time.ts';
import { AppName } from '../metadata/names.ts';
import { PLAN_NAMES } from '../metadata/plans.ts';

const uuid = z.string().refine(isUuid, 'must be a UUID');
export const AccountParams = z.strictObject({ accountId: uuid.transform(accountId) });
export const KeyParams = z.strictObject({ keyId: uuid.transform(keyId) });
export const AppParams = z.strictObject({ appId: uuid.transform(appId) });
export const ShareParams = z.strictObject({ ...AppParams.shape, ...AccountParams.shape });

const MAX_OVERLAP_SECONDS = 3650 * 86_400;
/** The last instant of the store's date type. */
const LAST_INSTANT = Date.UTC(2299, 11, 31, 23, 59, 59, 999);
const PLAN = `must be one of ${PLAN_NAMES.join(', ')}`;
const INSTANT = 'must be an ISO 8601 date-time with Z or an offset, such as 2027-01-31T00:00:00Z';

const PlanField = z.enum(PLAN_NAMES, PLAN);
const ExpiresAt = z.iso
  .datetime({ offset: true, error: INSTANT })
  .transform((text) => epochMs(Date.parse(text)))
  .refine((at) => at <= LAST_INSTANT, 'must be before the year 2300')
  .nullable()
  .default(null);
const OverlapSeconds = z
  .int('must be a whole number of seconds')
  .min(0, 'must not be negative')
  .max(MAX_OVERLAP_SECONDS, 'must be at most 3650 days')
  .default(0);

export const AccountBody = z.strictObject({ name: AppName, plan: PlanField.default('free') });
export const PlanBody = z.strictObject({ plan: PlanField });
export const KeyBody = z.strictObject({ expiresAt: ExpiresAt });
export const RotateKeyBody = z.strictObject({ overlapSeconds: OverlapSeconds, expiresAt: ExpiresAt });
export const RotateSecretBody = z.strictObject({ overlapSeconds: OverlapSeconds });

/** What `schema` makes of `value`. Throws `validation_failed` with every field that is wrong. */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  // The input only tells a missing field from one of the wrong type; it is not repeated.
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new AppError('validation_failed', 'One or more fields are invalid.', {
    errors: parsed.error.issues.flatMap(fieldErrors),
  });
}

function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...issue.path, key].join('.'),
      message: 'is not a field of this',
    }));
  }
  const missing = issue.code === 'invalid_type' && issue.input === undefined;
  const field = issue.path.join('.') || 'body';
  return [{ field, message: missing ? 'is required' : issue.message }];
}
