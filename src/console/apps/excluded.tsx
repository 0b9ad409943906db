import { Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type Loaded, useAnswer, useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { OwnerButton } from '../parts/owner-button.tsx';
import { Problem } from '../parts/problem.tsx';
import { useSession } from '../shell/session.tsx';
import { Shown } from '../states.tsx';
import type { App } from './apps.ts';

type Excluded = Answer<'GET /apps/:appId/excluded-addresses'>;

/** The addresses whose events the app leaves out, one a line. */
export function ExcludedAddresses({ app }: { readonly app: App }) {
  const excluded = useAnswer('GET /apps/:appId/excluded-addresses', { appId: app.id });
  return (
    <Shown of={excluded} lines={2}>
      {({ addresses }) => (
        <List key={addresses.join()} app={app} excluded={excluded} saved={addresses.join('\n')} />
      )}
    </Shown>
  );
}

interface ListProps {
  readonly app: App;
  readonly excluded: Loaded<Excluded>;
  readonly saved: string;
}

function List({ app, excluded, saved }: ListProps) {
  const { excluded: text } = useText().apps;
  const { mayChange } = useSession();
  const [lines, setLines] = useState(saved);
  const save = useDeed(() =>
    ask('PUT /apps/:appId/excluded-addresses', {
      params: { appId: app.id },
      body: { addresses: lines.split(/[\s,]+/).filter((line) => line !== '') },
    }),
  );
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ((await save.run()) !== undefined) excluded.reload();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Textarea
        label={text.addresses}
        description={text.hint}
        value={lines}
        disabled={!mayChange}
        dir="ltr"
        spellCheck={false}
        autosize
        minRows={2}
        maxRows={10}
        mb="sm"
        onChange={(event) => setLines(event.currentTarget.value)}
      />
      <OwnerButton type="submit" variant="default" loading={save.isRunning} disabled={lines === saved}>
        {text.save}
      </OwnerButton>
      <Problem error={save.error} />
    </form>
  );
}
