import { createContext, useContext } from 'react';
import type { LinkAnswer } from '../../http/console/schemas.ts';

export type Link = LinkAnswer;

const LinkContext = createContext<Link | null>(null);
export const LinkProvider = LinkContext.Provider;

/** What the link of this window shows. Null in the console itself, for somebody who is signed in. */
export const useLink = (): Link | null => useContext(LinkContext);

/** Whether questions count only some sessions of the app: then nothing is known of the others. */
export const useIsNarrowed = (): boolean => (useLink()?.segment ?? null) !== null;
