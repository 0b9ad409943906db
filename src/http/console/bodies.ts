import { z } from 'zod';
import { accountId, appId, isUuid, keyId, segmentId } from '../../domain/ids.ts';
import { parseSegment } from '../../domain/segment.ts';
import { ExclusionsBody, RetentionBody, RotateKeyBody, RotateSecretBody } from '../../management/schemas.ts';
import { AppName } from '../../metadata/names.ts';

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
export const SegmentPath = z.strictObject({ segmentId: uuid.transform(segmentId) });
/** A segment, as the Public API takes it, and the name under which people find it. */
export const SegmentBody = z.strictObject({
  name: AppName,
  segment: z.string().superRefine((text, ctx) => {
    const result = parseSegment(text);
    if ('problem' in result) ctx.addIssue({ code: 'custom', message: result.problem });
  }),
});
export { ExclusionsBody, RotateKeyBody, RotateSecretBody };
