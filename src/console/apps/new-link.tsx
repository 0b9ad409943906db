import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { endOf, type Lifetime, useLifetimes } from '../parts/choices.ts';
import { Copy } from '../parts/copy.tsx';
import { DeedForm } from '../parts/deed-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { focusAtFirst } from '../parts/focus.ts';
import type { App } from './apps.ts';
import { SitesField, sitesIn } from './link-sites.tsx';

type Made = Answer<'POST /apps/:appId/links'>;

/** Makes a link. Its address is in the memory of this window only. */
export function NewLink({ app, onClose }: { readonly app: App; readonly onClose: () => void }) {
  const { apps } = useText();
  const { links: text } = apps;
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>('month');
  const [segment, setSegment] = useState('');
  const [sites, setSites] = useState('');
  const [made, setMade] = useState<Made | null>(null);
  const lifetimes = useLifetimes();
  const deed = useDeed(() =>
    ask('POST /apps/:appId/links', {
      params: { appId: app.id },
      body: {
        name: name.trim(),
        expiresAt: endOf(lifetime),
        segment: segment.trim(),
        origins: sitesIn(sites),
      },
    }),
  );
  return (
    <Dialog
      title={made === null ? text.create : text.made}
      onClose={onClose}
      isHeld={made !== null || deed.isRunning}
    >
      {made === null ? (
        <DeedForm deed={deed} button={text.create} onDone={setMade} onClose={onClose}>
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
          <NativeSelect
            label={text.lifetime}
            data={lifetimes}
            value={lifetime}
            onChange={(event) => setLifetime(event.currentTarget.value as Lifetime)}
          />
          <TextInput
            label={text.segment}
            description={
              <>
                {text.segmentHint} <a href="/docs/segments">{text.segmentGuide}</a>
              </>
            }
            value={segment}
            dir="ltr"
            autoCapitalize="off"
            spellCheck={false}
            onChange={(event) => setSegment(event.currentTarget.value)}
          />
          <SitesField lines={sites} onChange={setSites} />
        </DeedForm>
      ) : (
        <MadeLink made={made} onClose={onClose} />
      )}
    </Dialog>
  );
}

function MadeLink({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  const { actions, apps } = useText();
  const { links: text } = apps;
  const { linkId, token, name, origins } = made;
  return (
    <>
      <Text>{text.madeText}</Text>
      <Copy text={`${location.origin}/shared/${linkId}#${token}`} label={text.address} />
      {origins.length > 0 && (
        <>
          <Text>{text.frameText}</Text>
          <Copy text={frameOf(`${location.origin}/embed/${linkId}#${token}`, name)} label={text.frame} />
        </>
      )}
      <div className="buttons">
        <Button onClick={onClose} ref={focusAtFirst}>
          {actions.done}
        </Button>
      </div>
    </>
  );
}

const escaped = (text: string): string => text.replace(/[&"<]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The frame for the pages of the named sites. */
const frameOf = (address: string, name: string): string =>
  `<iframe src="${address}" title="${escaped(name)}" width="100%" height="900" loading="lazy"></iframe>`;
