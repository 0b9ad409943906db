import { z } from 'zod';
import { addressRange } from '../domain/address-ranges.ts';
import { accountId, appId, isUuid, keyId } from '../domain/ids.ts';
import { EVER, epochMs } from '../domain/time.ts';
import { ROLES } from '../metadata/members.ts';
import { AppDomain, AppName } from '../metadata/names.ts';
import { PLAN_NAMES } from '../metadata/plans.ts';

const uuid = z.string().refine(isUuid, 'Must be a UUID.');
export const AccountParams = z.strictObject({ accountId: uuid.transform(accountId) });
export const KeyParams = z.strictObject({ keyId: uuid.transform(keyId) });
export const AppParams = z.strictObject({ appId: uuid.transform(appId) });
export const ShareParams = z.strictObject({ ...AppParams.shape, ...AccountParams.shape });

const MAX_OVERLAP_SECONDS = 3650 * 86_400;
const PLAN = `Must be one of ${PLAN_NAMES.join(', ')}.`;
const INSTANT = 'Must be an ISO 8601 date-time with Z or an offset, such as 2027-01-31T00:00:00Z.';

const PlanField = z.enum(PLAN_NAMES, PLAN);
const ExpiresAt = z.iso
  .datetime({ offset: true, error: INSTANT })
  .transform((text) => epochMs(Date.parse(text)))
  .refine((at) => at <= EVER.to, 'Must be before the year 2300.')
  .nullable()
  .default(null);
const OverlapSeconds = z
  .int('Must be a whole number of seconds.')
  .min(0, 'Must not be negative.')
  .max(MAX_OVERLAP_SECONDS, 'Must be at most 3650 days.')
  .default(0);

/**
 * An e-mail address in lower case. Letters beyond ASCII are not used in sign-in. They are refused first: in lower case
 * U+212A (the kelvin sign) is a `k`.
 */
export const Email = z
  .string()
  .trim()
  .max(254, 'Must have at most 254 characters.')
  .regex(/^[!-?A-~]+@[A-Za-z0-9.-]+$/, 'Must be an e-mail address, such as ada@example.com.')
  .toLowerCase();

export const MemberParams = z.strictObject({ ...AccountParams.shape, email: Email });
export const RoleBody = z.strictObject({ role: z.enum(ROLES, `Must be one of ${ROLES.join(', ')}.`) });
export const LinkBody = z.strictObject({ email: Email.optional() });
export const AccountBody = z.strictObject({ name: AppName, plan: PlanField.default('free') });
export const AppBody = z.strictObject({ name: AppName, domain: AppDomain });
export const PlanBody = z.strictObject({ plan: PlanField });
export const NameBody = z.strictObject({ name: AppName });
export const KeyBody = z.strictObject({ name: AppName.optional(), expiresAt: ExpiresAt });
export const RotateKeyBody = z.strictObject({ overlapSeconds: OverlapSeconds, expiresAt: ExpiresAt });
const RETENTION_DAYS =
  'Must be a whole number of days from 1 to 36500, or null for ever (in the command: none).';
export const RetentionBody = z.strictObject({
  days: z.int(RETENTION_DAYS).min(1, RETENTION_DAYS).max(36_500, RETENTION_DAYS).nullable(),
});
const MOST_RANGES = 100;
const RANGE = 'Must be an address or a range, such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32.';
export const ExclusionsBody = z.strictObject({
  addresses: z
    .array(
      z.string(RANGE).transform((text, context) => {
        const range = addressRange(text);
        if (range !== undefined) return range;
        context.addIssue({ code: 'custom', message: `${JSON.stringify(text.slice(0, 100))}: ${RANGE}` });
        return z.NEVER;
      }),
    )
    .max(MOST_RANGES, `Must hold at most ${MOST_RANGES} ranges.`)
    .transform((ranges) => [...new Set(ranges)]),
});
const VISITOR = 'Must be 1 to 64 of A–Z a–z 0–9 . _ : -, as the SDK sent it.';
export const VisitorBody = z.strictObject({ visitorId: z.string().regex(/^[\w.:-]{1,64}$/, VISITOR) });
export const RotateSecretBody = z.strictObject({ overlapSeconds: OverlapSeconds });
