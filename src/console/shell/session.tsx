import { createContext, useContext } from 'react';
import type { Answer } from '../api.ts';

export type Session = Answer<'GET /session'>;

export interface SessionContextValue {
  readonly session: Session;
  /** True for an owner. A viewer changes nothing; the service refuses it too. */
  readonly mayChange: boolean;
  /** Ends the session, and shows how to sign in. */
  readonly signOut: () => Promise<void>;
  /** Continues in another account of the person. */
  readonly changeAccount: (accountId: string) => Promise<void>;
}

const SessionContext = createContext<SessionContextValue | null>(null);
export const SessionProvider = SessionContext.Provider;

/** The person who is signed in, with the account and the role. */
export function useSession(): SessionContextValue {
  const value = useContext(SessionContext);
  if (value === null) throw new Error('Nobody is signed in around this component.');
  return value;
}
