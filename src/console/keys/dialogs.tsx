import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Deed, useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import {
  endOf,
  type Lifetime,
  type Overlap,
  secondsOf,
  useLifetimes,
  useOverlaps,
} from '../parts/choices.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Copy } from '../parts/copy.tsx';
import { DeedForm } from '../parts/deed-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { focusAtFirst } from '../parts/focus.ts';
import { type Key, useNameOf } from './key.ts';

interface OnKey {
  readonly of: Key;
  readonly onClose: () => void;
}

export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { keys: text } = useText();
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>('forever');
  const lifetimes = useLifetimes();
  const deed = useDeed(() =>
    ask('POST /keys', {
      body: { expiresAt: endOf(lifetime), ...(name.trim() === '' ? {} : { name: name.trim() }) },
    }),
  );
  return (
    <MakeKey title={text.create} button={text.create} deed={deed} onClose={onClose}>
      <Text>{text.createText}</Text>
      <TextInput
        label={text.name}
        description={text.nameHint}
        value={name}
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
    </MakeKey>
  );
}

export function RotateKey({ of: key, onClose }: OnKey) {
  const { keys: text } = useText();
  const nameOf = useNameOf();
  const [overlap, setOverlap] = useState<Overlap>('day');
  const [lifetime, setLifetime] = useState<Lifetime>('forever');
  const lifetimes = useLifetimes();
  const overlaps = useOverlaps();
  const deed = useDeed(() =>
    ask('POST /keys/:keyId/rotate', {
      params: { keyId: key.keyId },
      body: { overlapSeconds: secondsOf(overlap), expiresAt: endOf(lifetime) },
    }),
  );
  return (
    <MakeKey title={text.rotateKey(nameOf(key))} button={text.rotate} deed={deed} onClose={onClose}>
      <Text>{text.rotateText}</Text>
      <NativeSelect
        label={text.overlap}
        data={overlaps}
        value={overlap}
        data-autofocus
        onChange={(event) => setOverlap(event.currentTarget.value as Overlap)}
      />
      <NativeSelect
        label={text.newLifetime}
        data={lifetimes}
        value={lifetime}
        onChange={(event) => setLifetime(event.currentTarget.value as Lifetime)}
      />
    </MakeKey>
  );
}

interface MakeKeyProps {
  readonly title: string;
  readonly button: string;
  readonly deed: Deed<[], Answer<'POST /keys'>>;
  readonly onClose: () => void;
  readonly children: React.ReactNode;
}

/** A form whose result is a key. The key is in the memory of this window only. */
function MakeKey({ title, button, deed, onClose, children }: MakeKeyProps) {
  const { keys: text } = useText();
  const [made, setMade] = useState<Answer<'POST /keys'> | null>(null);
  return (
    <Dialog
      title={made === null ? title : text.secret}
      onClose={onClose}
      isHeld={made !== null || deed.isRunning}
    >
      {made === null ? (
        <DeedForm deed={deed} button={button} onDone={setMade} onClose={onClose}>
          {children}
        </DeedForm>
      ) : (
        <MadeKey apiKey={made.apiKey} onClose={onClose} />
      )}
    </Dialog>
  );
}

function MadeKey({ apiKey, onClose }: { readonly apiKey: string; readonly onClose: () => void }) {
  const { actions, keys: text } = useText();
  return (
    <>
      <Text>{text.secretText}</Text>
      <Copy text={apiKey} label={text.secret} />
      <Text>{text.tryIt}</Text>
      <Copy
        text={`curl -H 'Authorization: Bearer ${apiKey}' ${location.origin}/api/v1/apps`}
        label={text.tryIt}
      />
      <div className="buttons">
        <Button onClick={onClose} ref={focusAtFirst}>
          {actions.done}
        </Button>
      </div>
    </>
  );
}

export function RevokeKey({ of: key, onClose }: OnKey) {
  const { keys: text } = useText();
  const nameOf = useNameOf();
  return (
    <ConfirmDialog
      title={text.revokeKey(nameOf(key))}
      confirm={text.revoke}
      work={() => ask('POST /keys/:keyId/revoke', { params: { keyId: key.keyId } })}
      onClose={onClose}
    >
      {text.revokeText}
    </ConfirmDialog>
  );
}
