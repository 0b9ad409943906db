import { Button, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type Loaded, useAnswer, useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useFormat, useText } from '../i18n/use-text.ts';
import { DaysField } from '../parts/days-field.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { Problem } from '../parts/problem.tsx';
import { Shown } from '../states.tsx';
import type { App } from './apps.ts';

type Retention = Answer<'GET /apps/:appId/retention'>;

/** For how many days raw events are kept. A change is confirmed with the app's name. */
export function RetentionOfApp({ app }: { readonly app: App }) {
  const { retention: text } = useText().apps;
  const format = useFormat();
  const retention = useAnswer('GET /apps/:appId/retention', { appId: app.id });
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Shown of={retention} lines={1}>
      {({ days, exactFrom }) => (
        <>
          <Text>{days === null ? text.forEver : text.kept(format.number(days), days === 1)}</Text>
          {exactFrom !== null && <Text>{text.exactFrom(format.date(exactFrom, 'UTC'))}</Text>}
          <OwnerButton variant="default" onClick={() => setIsAsking(true)}>
            {text.button}
          </OwnerButton>
          {isAsking && (
            <ChangeRetention app={app} retention={retention} days={days} onClose={() => setIsAsking(false)} />
          )}
        </>
      )}
    </Shown>
  );
}

interface ChangeProps {
  readonly app: App;
  readonly retention: Loaded<Retention>;
  readonly days: number | null;
  readonly onClose: () => void;
}

function ChangeRetention({ app, retention, days: before, onClose }: ChangeProps) {
  const { actions, apps } = useText();
  const text = apps.retention;
  const [days, setDays] = useState(before);
  const [name, setName] = useState('');
  const deed = useDeed(() =>
    ask('PUT /apps/:appId/retention', {
      params: { appId: app.id },
      body: { days, name },
    }),
  );
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ((await deed.run()) === undefined) return;
    retention.reload();
    onClose();
  };
  return (
    <Dialog title={text.title} onClose={onClose} isHeld={deed.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <Text>{text.lost}</Text>
        <Text>{text.hour}</Text>
        <DaysField label={text.days} description={text.daysHint} days={days} onChange={setDays} />
        <TextInput
          label={text.type(app.name)}
          value={name}
          autoComplete="off"
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Problem error={deed.error} />
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
