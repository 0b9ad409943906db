import { Title } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { go } from '../shell/router.tsx';
import type { Session } from '../shell/session.tsx';
import { ErrorState } from '../states.tsx';

/** How to sign in. A link's token is in the address's fragment, which browsers send to nobody. */
export function SignInPage({ onSignedIn }: { readonly onSignedIn: (session: Session) => void }) {
  const { shell } = useText();
  const [error, setError] = useState<unknown>(null);
  const isRedeemed = useRef(false);
  useEffect(() => {
    const token = location.hash.slice(1);
    if (token === '' || isRedeemed.current) return;
    isRedeemed.current = true;
    ask('POST /sign-in/link', { body: { token } }).then((session) => {
      onSignedIn(session);
      go('/dashboard', { replace: true });
    }, setError);
  }, [onSignedIn]);
  return (
    <main className="content">
      <Title order={1}>{shell.title}</Title>
      {error !== null && <ErrorState error={error} />}
    </main>
  );
}
