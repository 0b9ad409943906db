import { Text } from '@mantine/core';
import { useState } from 'react';
import { type Loaded, useAnswer, useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useFormat, useText } from '../i18n/use-text.ts';
import { ConfirmedByName } from '../parts/confirmed-by-name.tsx';
import { DaysField } from '../parts/days-field.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
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
  const { retention: text } = useText().apps;
  const [days, setDays] = useState(before);
  const deed = useDeed((name: string) =>
    ask('PUT /apps/:appId/retention', { params: { appId: app.id }, body: { days, name } }),
  );
  const onDone = (): void => {
    retention.reload();
    onClose();
  };
  return (
    <ConfirmedByName
      title={text.title}
      name={app.name}
      label={text.type(app.name)}
      confirm={text.confirm}
      deed={deed}
      onDone={onDone}
      onClose={onClose}
    >
      <Text>{text.lost}</Text>
      <Text>{text.hour}</Text>
      <DaysField label={text.days} description={text.daysHint} days={days} onChange={setDays} />
    </ConfirmedByName>
  );
}
