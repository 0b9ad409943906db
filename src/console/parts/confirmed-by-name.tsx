import { Button, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Deed } from '../answers.ts';
import { useText } from '../i18n/use-text.ts';
import { Dialog } from './dialog.tsx';
import { Problem } from './problem.tsx';

interface Props {
  readonly title: string;
  /** The name to type. */
  readonly name: string;
  /** The label of its field. */
  readonly label: string;
  /** The text of the button. */
  readonly confirm: string;
  /** Shown while the deed runs. */
  readonly running?: string;
  /** Takes the typed name. */
  readonly deed: Deed<[string], unknown>;
  /** Called after the deed was done. */
  readonly onDone: () => void;
  readonly onClose: () => void;
  /** A warning of the consequences, and other fields. */
  readonly children: ReactNode;
}

/** A dialog for a deed that cannot be undone: its button works after the name was typed. */
export function ConfirmedByName({
  title,
  name,
  label,
  confirm,
  running,
  deed,
  onDone,
  onClose,
  children,
}: Props) {
  const { actions } = useText();
  const [typed, setTyped] = useState('');
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ((await deed.run(typed)) !== undefined) onDone();
  };
  return (
    <Dialog title={title} onClose={onClose} isHeld={deed.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        <TextInput
          label={label}
          value={typed}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Problem error={deed.error} />
        <p role="status" className="said">
          {deed.isRunning && running}
        </p>
        <div className="buttons">
          <Button type="submit" color="red" disabled={typed !== name} loading={deed.isRunning}>
            {confirm}
          </Button>
          <Button variant="default" onClick={onClose} disabled={deed.isRunning}>
            {actions.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
