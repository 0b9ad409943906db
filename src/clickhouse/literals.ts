import { type AppId, isUuid } from '../domain/ids.ts';

/*
 * Values in the text of statements: whole numbers and an app's UUID, checked here, and nothing else. As literals they cost the engine a
 * third of what bound places do. Nothing that a caller sent is ever text.
 */

/** An Int64 literal, for epoch ms and counts. */
export function int(value: number): string {
  if (!Number.isSafeInteger(value)) throw new Error(`not a whole number: ${value}`);
  return String(value);
}

/** The rows of the app. */
export function ofApp(app: AppId): string {
  if (!isUuid(app)) throw new Error('not an app id');
  return `app_id = '${app}'`;
}
