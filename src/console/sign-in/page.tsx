import { Anchor, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SignInProblem } from '../../http/console/schemas.ts';
import { useAnswer } from '../answers.ts';
import { ApiError, ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { Copy } from '../parts/copy.tsx';
import { useWindowTitle } from '../parts/window-title.ts';
import { Brand } from '../shell/brand.tsx';
import { Preferences } from '../shell/preferences.tsx';
import { go, usePath, useSearch } from '../shell/router.tsx';
import type { Session } from '../shell/session.tsx';
import { ErrorState, LoadingState } from '../states.tsx';
import { keepWanted, takeWanted } from './wanted.ts';

export const SIGN_IN = '/dashboard/sign-in';
/** The provider leads back to /dashboard. */
const PROVIDER = '/dashboard/api/sign-in/oidc';

export interface SignInProps {
  readonly onSignedIn: (session: Session) => void;
  /** True if the person had a session until now. */
  readonly hasEnded: boolean;
  /** True for somebody who is signed in, and opened a link. */
  readonly isSignedIn: boolean;
}

/** Signs in by the link that was opened; without one it says what to do. */
export function SignInPage({ onSignedIn, hasEnded, isSignedIn }: SignInProps) {
  const { signIn: text } = useText();
  const { isRedeeming, error } = useLink(onSignedIn, isSignedIn);
  const ways = useAnswer('GET /sign-in');
  const failure = failureOf(useSearch(), text.failures);
  useWindowTitle(text.title);
  const isAtPage = usePath() !== SIGN_IN;
  useEffect(() => {
    if (isAtPage) keepWanted();
  }, [isAtPage]);
  if (isRedeeming) return <LoadingState />;
  return (
    <main className="sign-in">
      <Brand />
      <Title order={1}>{text.title}</Title>
      {hasEnded && error === null && failure === null && (
        <Text role="status" className="note">
          {text.ended}
        </Text>
      )}
      {error !== null && <LinkProblem error={error} />}
      {failure !== null && <Problem title={text.failed} text={text.failures[failure]} />}
      {ways.data?.oidc === true && (
        <Way title={text.byProvider} text={text.byProviderText}>
          <Anchor href={PROVIDER} className="provider" onClick={() => keepWanted(true)}>
            {text.toProvider}
          </Anchor>
        </Way>
      )}
      <Way title={text.byLink} text={text.byLinkText}>
        <Copy text={text.command} label={text.commandLabel} />
        <Text c="dimmed">{text.isOperator}</Text>
      </Way>
      <Preferences />
    </main>
  );
}

/** Redeems the token in the address's fragment, which browsers send to nobody, and removes it from the address. */
function useLink(onSignedIn: SignInProps['onSignedIn'], isSignedIn: boolean) {
  const [error, setError] = useState<unknown>(null);
  const token = useRef(location.hash.slice(1));
  const [isRedeeming, setIsRedeeming] = useState(token.current !== '');
  useEffect(() => {
    const { current } = token;
    if (current === '') return;
    token.current = '';
    history.replaceState(null, '', location.pathname);
    ask('POST /sign-in/link', { body: { token: current } }).then(
      (session) => {
        onSignedIn(session);
        go(takeWanted(), { replace: true });
      },
      (reason: unknown) => {
        // A link that was used before leads on, for somebody who is signed in.
        if (isSignedIn && reason instanceof ApiError && reason.status === 401) {
          go(takeWanted(), { replace: true });
          return;
        }
        setError(reason);
        setIsRedeeming(false);
      },
    );
  }, [onSignedIn, isSignedIn]);
  return { isRedeeming, error };
}

function LinkProblem({ error }: { readonly error: unknown }) {
  const { signIn: text } = useText();
  if (!(error instanceof ApiError) || error.status !== 401) return <ErrorState error={error} />;
  return <Problem title={text.wrongLink} text={text.wrongLinkText} />;
}

const Problem = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <div className="state" role="alert">
    <Title order={2} size="h4">
      {title}
    </Title>
    <Text>{text}</Text>
  </div>
);

/** Why the sign-in with the provider failed, by the address that the service led to; null for any other address. */
function failureOf(search: string, texts: Readonly<Record<SignInProblem, string>>): SignInProblem | null {
  const problem = new URLSearchParams(search).get('problem') ?? '';
  return Object.hasOwn(texts, problem) ? (problem as SignInProblem) : null;
}

function Way({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}) {
  return (
    <section className="way" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text>{text}</Text>
      {children}
    </section>
  );
}
