import { useCallback, useEffect, useMemo, useState } from 'react';
import { ApiError, ask, onSignedOut } from '../api.ts';
import { SIGN_IN, SignInPage } from '../sign-in/page.tsx';
import { takeWantedOfProvider } from '../sign-in/wanted.ts';
import { ErrorState, LoadingState } from '../states.tsx';
import { Frame } from './frame.tsx';
import { Pages } from './pages.tsx';
import { go, usePath } from './router.tsx';
import { type Session, SessionProvider } from './session.tsx';

let begun: Promise<Session> | undefined;

/** Asks who is signed in before there is a page to show. The page takes the answer. */
export function beginSession(): void {
  begun = ask('GET /session');
  // The page hears of it, too.
  begun.catch(() => undefined);
}

/** Finds out who is signed in: shows the pages to them, and to others how to sign in. */
export function SignedIn() {
  const path = usePath();
  const [session, setSession] = useState<Session | null>();
  const [hasEnded, setHasEnded] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const find = useCallback(() => {
    setError(null);
    const asked = begun ?? ask('GET /session');
    begun = undefined;
    asked.then(
      (found) => {
        setSession(found);
        const wanted = takeWantedOfProvider();
        if (wanted !== null) go(wanted, { replace: true });
      },
      (reason: unknown) => {
        if (reason instanceof ApiError && reason.status === 401) setSession(null);
        else setError(reason);
      },
    );
  }, []);
  useEffect(() => {
    onSignedOut(() =>
      setSession((before) => {
        if (before) setHasEnded(true);
        return null;
      }),
    );
    find();
  }, [find]);
  const value = useMemo(
    () =>
      session
        ? {
            session,
            mayChange: session.role === 'owner',
            signOut: async () => {
              await ask('POST /sign-out');
              setHasEnded(false);
              setSession(null);
              go('/dashboard');
            },
            changeAccount: async (accountId: string) => {
              setSession(await ask('PUT /session/account', { body: { accountId } }));
              go('/dashboard');
            },
          }
        : null,
    [session],
  );
  if (error !== null) return <ErrorState error={error} retry={find} />;
  if (session === undefined) return <LoadingState />;
  if (value === null || path === SIGN_IN) {
    return <SignInPage onSignedIn={setSession} hasEnded={hasEnded} isSignedIn={value !== null} />;
  }
  return (
    <SessionProvider value={value}>
      {/* Another account begins with empty pages. */}
      <Frame key={value.session.account.accountId}>
        <Pages />
      </Frame>
    </SessionProvider>
  );
}
