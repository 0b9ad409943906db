/** An app's UUID, lower case. */
export type AppId = string & { readonly __id: 'app' };
/** An account's UUID, lower case. */
export type AccountId = string & { readonly __id: 'account' };
/** An API key's UUID (never the key itself). */
export type KeyId = string & { readonly __id: 'key' };
/** The UUID of a link to an app's analytics (never its token). */
export type LinkId = string & { readonly __id: 'link' };
/** A saved segment's UUID. */
export type SegmentId = string & { readonly __id: 'segment' };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for the 8-4-4-4-12 form in either case. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** Lower-cases; the caller has checked the form with `isUuid`. */
export const appId = (uuid: string): AppId => uuid.toLowerCase() as AppId;
export const accountId = (uuid: string): AccountId => uuid.toLowerCase() as AccountId;
export const keyId = (uuid: string): KeyId => uuid.toLowerCase() as KeyId;
export const linkId = (uuid: string): LinkId => uuid.toLowerCase() as LinkId;
export const segmentId = (uuid: string): SegmentId => uuid.toLowerCase() as SegmentId;
