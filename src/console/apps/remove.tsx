import { Text } from '@mantine/core';
import { useState } from 'react';
import { useDeed } from '../answers.ts';
import { ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { ConfirmedByName } from '../parts/confirmed-by-name.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { go } from '../shell/router.tsx';
import type { App } from './apps.ts';

/** Deletes the app after its name was typed. */
export function RemoveApp({ app }: { readonly app: App }) {
  const { remove: text } = useText().apps;
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <OwnerButton color="red" variant="outline" onClick={() => setIsAsking(true)}>
        {text.button}
      </OwnerButton>
      {isAsking && <ConfirmRemoval app={app} onClose={() => setIsAsking(false)} />}
    </>
  );
}

function ConfirmRemoval({ app, onClose }: { readonly app: App; readonly onClose: () => void }) {
  const { remove: text } = useText().apps;
  const deed = useDeed((name: string) =>
    ask('POST /apps/:appId/delete', { params: { appId: app.id }, body: { name } }),
  );
  return (
    <ConfirmedByName
      title={text.title}
      name={app.name}
      label={text.type(app.name)}
      confirm={text.confirm}
      running={text.running}
      deed={deed}
      onDone={() => go('/dashboard')}
      onClose={onClose}
    >
      <Text>{text.text}</Text>
    </ConfirmedByName>
  );
}
