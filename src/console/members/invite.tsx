import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { Copy } from '../parts/copy.tsx';
import { DeedForm } from '../parts/deed-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { focusAtFirst } from '../parts/focus.ts';

type Made = Answer<'POST /members'>;

interface Props {
  /** A member who gets another link. Absent: somebody new. */
  readonly again?: { readonly email: string; readonly role: 'owner' | 'viewer' };
  readonly onClose: () => void;
}

/** Makes a link that signs a member in once. It is in the memory of this window only. */
export function Invite({ again, onClose }: Props) {
  const { actions, members: text, shell } = useText();
  const [email, setEmail] = useState(again?.email ?? '');
  const [role, setRole] = useState<string>(again?.role ?? 'viewer');
  const [made, setMade] = useState<Made | null>(null);
  const deed = useDeed(() => ask('POST /members', { body: { email: email.trim(), role } }));
  if (made !== null) {
    return (
      <Dialog title={text.made(made.email)} onClose={onClose} isHeld>
        <Text>{text.madeText}</Text>
        <Copy text={`${location.origin}/dashboard/sign-in#${made.token}`} label={text.address} />
        <div className="buttons">
          <Button onClick={onClose} ref={focusAtFirst}>
            {actions.done}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title={again === undefined ? text.invite : text.againFor(again.email)}
      onClose={onClose}
      isHeld={deed.isRunning}
    >
      <DeedForm deed={deed} button={text.make} onDone={setMade} onClose={onClose}>
        <Text>{again === undefined ? text.inviteText : text.againText}</Text>
        {again === undefined && (
          <>
            <TextInput
              type="email"
              label={text.email}
              value={email}
              required
              dir="ltr"
              autoComplete="off"
              data-autofocus
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <NativeSelect
              label={text.role}
              value={role}
              data={(['viewer', 'owner'] as const).map((value) => ({ value, label: shell[value] }))}
              onChange={(event) => setRole(event.currentTarget.value)}
            />
          </>
        )}
      </DeedForm>
    </Dialog>
  );
}
