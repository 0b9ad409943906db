import { Button, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useDeed } from '../answers.ts';
import { client } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { go } from '../shell/router.tsx';
import { keepSecret, settingsOf } from './apps.ts';

/** The origin that is meant by a host without a scheme; null for anything else. */
function originIn(domain: string): string | null {
  const host = domain.trim().replace(/\/$/, '');
  return /^(?:[\p{L}\p{M}\p{N}-]+\.)+[\p{L}\p{N}-]{2,}(?::\d+)?$/u.test(host) ? `https://${host}` : null;
}

/** Creates an app, and goes on to its snippet. */
export function CreateApp({ onClose }: { readonly onClose: () => void }) {
  const { actions, apps: text } = useText();
  const [name, setName] = useState('');
  const [domain, setDomain] = useState('https://');
  const offered = originIn(domain);
  const deed = useDeed(() => client.createApp({ name: name.trim(), domain: domain.trim() }));
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const created = await deed.run();
    if (created === undefined) return;
    keepSecret(created.data.id, created.data.secretKey);
    go(settingsOf(created.data));
  };
  return (
    <Dialog title={text.create} onClose={onClose} isHeld={deed.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <Text>{text.createText}</Text>
        <TextInput
          label={text.name}
          description={text.nameHint}
          value={name}
          required
          maxLength={100}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={text.domain}
          description={text.domainHint}
          value={domain}
          required
          dir="ltr"
          inputMode="url"
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => setDomain(event.currentTarget.value)}
        />
        {offered !== null && (
          <Button variant="light" size="compact-sm" onClick={() => setDomain(offered)}>
            <bdi>{text.takeDomain(offered)}</bdi>
          </Button>
        )}
        <Problem error={deed.error} />
        <div className="buttons">
          <Button type="submit" loading={deed.isRunning}>
            {text.create}
          </Button>
          <Button variant="default" onClick={onClose}>
            {actions.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
