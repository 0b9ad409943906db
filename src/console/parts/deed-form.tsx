import { Button } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import type { Deed } from '../answers.ts';
import { useText } from '../i18n/use-text.ts';
import { Problem } from './problem.tsx';

interface Props<T> {
  readonly deed: Deed<[], T>;
  /** The text of the button that does it. */
  readonly button: string;
  /** False while the fields cannot be sent. */
  readonly isReady?: boolean;
  readonly onDone: (result: T) => void;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ReactNode;
}

/** The form of a dialog: its fields, what went wrong, and the buttons. */
export function DeedForm<T>({ deed, button, isReady = true, onDone, onClose, children }: Props<T>) {
  const { actions } = useText();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const result = await deed.run();
    if (result !== undefined) onDone(result);
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      {children}
      <Problem error={deed.error} />
      <div className="buttons">
        <Button type="submit" loading={deed.isRunning} disabled={!isReady}>
          {button}
        </Button>
        <Button variant="default" onClick={onClose}>
          {actions.cancel}
        </Button>
      </div>
    </form>
  );
}
