import { Button, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useDeed } from '../answers.ts';
import { ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { Dialog } from '../parts/dialog.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { Problem } from '../parts/problem.tsx';
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
  const { actions, apps } = useText();
  const text = apps.remove;
  const [name, setName] = useState('');
  const deed = useDeed(() => ask('POST /apps/:appId/delete', { params: { appId: app.id }, body: { name } }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ((await deed.run()) !== undefined) go('/dashboard');
  };
  return (
    <Dialog title={text.title} onClose={onClose} isHeld={deed.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <Text>{text.text}</Text>
        <TextInput
          label={text.type(app.name)}
          value={name}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Problem error={deed.error} />
        <p role="status" className="said">
          {deed.isRunning && text.running}
        </p>
        <div className="buttons">
          <Button type="submit" color="red" disabled={name !== app.name} loading={deed.isRunning}>
            {text.confirm}
          </Button>
          <Button variant="default" onClick={onClose} disabled={deed.isRunning}>
            {actions.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
