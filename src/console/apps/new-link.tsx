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

/** What the page of an app shows when somebody makes a link of it. */
interface FirstView {
  readonly segment: string;
  /** The part of the address after the question mark, without the segment. */
  readonly search: string;
}

interface Props {
  readonly app: App;
  /** What the link shows first, and the segment to begin with. Default: all visits. */
  readonly first?: FirstView;
  readonly onClose: () => void;
}

/** Makes a link. Its address is in the memory of this window only. */
export function NewLink({ app, first = { segment: '', search: '' }, onClose }: Props) {
  const { apps } = useText();
  const { links: text } = apps;
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>('month');
  const [segment, setSegment] = useState(first.segment);
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
        <MadeLink made={made} search={first.search} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface MadeProps {
  readonly made: Made;
  readonly search: string;
  readonly onClose: () => void;
}

function MadeLink({ made, search, onClose }: MadeProps) {
  const { actions, apps } = useText();
  const { links: text } = apps;
  const { linkId, token, name, origins } = made;
  const place = `${linkId}${search}#${token}`;
  return (
    <>
      <Text>{text.madeText}</Text>
      <Copy text={`${location.origin}/shared/${place}`} label={text.address} />
      {origins.length > 0 && (
        <>
          <Text>{text.frameText}</Text>
          <Copy text={frameOf(`${location.origin}/embed/${place}`, name)} label={text.frame} />
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
  `<iframe src="${escaped(address)}" title="${escaped(name)}" width="100%" height="900" loading="lazy"></iframe>`;
