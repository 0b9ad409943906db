import { Button, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useDeed } from '../answers.ts';
import { client } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { DeedForm } from '../parts/deed-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { go } from '../shell/router.tsx';
import { keepSecret, settingsOf } from './apps.ts';

/** The origin that is meant by a host without a scheme; null for anything else. */
function originIn(domain: string): string | null {
  const host = domain.trim().replace(/\/$/, '');
  return /^(?:[\p{L}\p{M}\p{N}-]+\.)+[\p{L}\p{N}-]{2,}(?::\d+)?$/u.test(host) ? `https://${host}` : null;
}

/** Creates an app, and goes on to its snippet. */
export function CreateApp({ onClose }: { readonly onClose: () => void }) {
  const { apps: text } = useText();
  const [name, setName] = useState('');
  const [domain, setDomain] = useState('https://');
  const offered = originIn(domain);
  const deed = useDeed(() => client.createApp({ name: name.trim(), domain: domain.trim() }));
  return (
    <Dialog title={text.create} onClose={onClose} isHeld={deed.isRunning}>
      <DeedForm
        deed={deed}
        button={text.create}
        onDone={({ data }) => {
          keepSecret(data.id, data.secretKey);
          go(settingsOf(data));
        }}
        onClose={onClose}
      >
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
      </DeedForm>
    </Dialog>
  );
}
