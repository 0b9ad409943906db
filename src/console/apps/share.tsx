import { Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useAnswer, useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { OwnerButton } from '../parts/owner-button.tsx';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../shell/session.tsx';
import { Shown } from '../states.tsx';
import type { App } from './apps.ts';

type Share = Answer<'GET /apps/:appId/shares'>[number];

/** The accounts that see the app, and a form to add one. */
export function ShareApp({ app }: { readonly app: App }) {
  const { share: text } = useText().apps;
  const { mayChange } = useSession();
  const shares = useAnswer('GET /apps/:appId/shares', { appId: app.id });
  const [account, setAccount] = useState('');
  const add = useDeed((accountId: string) =>
    ask('PUT /apps/:appId/shares/:accountId', { params: { appId: app.id, accountId } }),
  );
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ((await add.run(account.trim())) === undefined) return;
    setAccount('');
    shares.reload();
  };
  return (
    <>
      <Shown of={shares} lines={1}>
        {(rows) =>
          rows.length === 0 ? (
            <Text>{text.none}</Text>
          ) : (
            <ul className="shares" aria-label={text.with}>
              {rows.map((row) => (
                <Shared key={row.accountId} app={app} share={row} onEnded={shares.reload} />
              ))}
            </ul>
          )
        }
      </Shown>
      <form className="field-row" onSubmit={(event) => void submit(event)}>
        <TextInput
          label={text.account}
          description={text.accountHint}
          value={account}
          required
          disabled={!mayChange}
          dir="ltr"
          spellCheck={false}
          onChange={(event) => setAccount(event.currentTarget.value)}
        />
        <OwnerButton type="submit" loading={add.isRunning}>
          {text.add}
        </OwnerButton>
      </form>
      <Problem error={add.error} />
    </>
  );
}

function Shared({
  app,
  share: { accountId, accountName },
  onEnded,
}: {
  readonly app: App;
  readonly share: Share;
  readonly onEnded: () => void;
}) {
  const { share: text } = useText().apps;
  const name = accountName ?? text.unnamed;
  const end = useDeed(() =>
    ask('DELETE /apps/:appId/shares/:accountId', { params: { appId: app.id, accountId } }),
  );
  return (
    <li>
      <div>
        <bdi>{name}</bdi>
        <code dir="ltr">{accountId}</code>
      </div>
      <OwnerButton
        size="xs"
        variant="default"
        loading={end.isRunning}
        aria-label={text.removeWith(name)}
        onClick={() => void end.run().then((done) => done !== undefined && onEnded())}
      >
        {text.remove}
      </OwnerButton>
      <Problem error={end.error} />
    </li>
  );
}
