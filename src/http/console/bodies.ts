import { z } from 'zod';
import { accountId, appId, isUuid, keyId, linkId, segmentId } from '../../domain/ids.ts';
import { parseSegment } from '../../domain/segment.ts';
import {
  Email,
  ExclusionsBody,
  KeyBody,
  RetentionBody,
  RoleBody,
  RotateKeyBody,
  RotateSecretBody,
} from '../../management/schemas.ts';
import { AppDomain, AppName } from '../../metadata/names.ts';

/* The paths and bodies of the console's own API. */

const uuid = z.string().refine(isUuid, 'Must be a UUID.');

export const AppPath = z.strictObject({ appId: uuid.transform(appId) });
export const KeyPath = z.strictObject({ keyId: uuid.transform(keyId) });
export const SharePath = z.strictObject({ ...AppPath.shape, accountId: uuid.transform(accountId) });
export const LinkBody = z.strictObject({ token: z.string() });
export const AccountBody = z.strictObject({ accountId: uuid.transform(accountId) });
/** The app's name, as typed by the person who deletes it. */
export const DeletionBody = z.strictObject({ name: z.string() });
/** The app's name, as typed by the person who lets its events expire. */
export const NamedRetentionBody = z.strictObject({ ...RetentionBody.shape, ...DeletionBody.shape });

export const LinkPath = z.strictObject({ ...AppPath.shape, linkId: uuid.transform(linkId) });

const MOST_ORIGINS = 10;
/** What the grammar of a Content-Security-Policy can name: no underscore, and no address of IPv6. */
const IN_POLICY = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;
const Origins = z
  .array(AppDomain.refine((origin) => IN_POLICY.test(origin), 'must be a site with an ordinary host name'))
  .max(MOST_ORIGINS, `Must hold at most ${MOST_ORIGINS} sites.`)
  .transform((origins) => [...new Set(origins)]);
export const OriginsBody = z.strictObject({ origins: Origins });

/** The text is kept, so that people see it as it was written. */
const SegmentText = z.string().superRefine((text, context) => {
  const segment = parseSegment(text);
  if ('problem' in segment) context.addIssue({ code: 'custom', message: segment.problem });
});
export const NewLinkBody = z.strictObject({
  name: AppName,
  /** Empty: all sessions. */
  segment: z.union([z.literal(''), SegmentText]).default(''),
  origins: Origins.default([]),
  expiresAt: KeyBody.shape.expiresAt,
});

export const MemberPath = z.strictObject({ email: Email });
export const InvitationBody = z.strictObject({ email: Email, ...RoleBody.shape });
export const SegmentPath = z.strictObject({ segmentId: uuid.transform(segmentId) });
/** A segment, as the Public API takes it, and the name under which people find it. */
export const SegmentBody = z.strictObject({ name: AppName, segment: SegmentText });
export { ExclusionsBody, RoleBody, RotateKeyBody, RotateSecretBody };
