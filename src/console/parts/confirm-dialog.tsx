import { Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useDeed } from '../answers.ts';
import { useText } from '../i18n/use-text.ts';
import { Dialog } from './dialog.tsx';
import { Problem } from './problem.tsx';

interface Props {
  readonly title: string;
  /** The text of the button that does it. */
  readonly confirm: string;
  readonly work: () => Promise<unknown>;
  /** Called when it is done, too. */
  readonly onClose: () => void;
  /** The consequences. */
  readonly children: ReactNode;
}

/** Asks before something ends. */
export function ConfirmDialog({ title, confirm, work, onClose, children }: Props) {
  const { actions } = useText();
  const deed = useDeed(work);
  const run = async (): Promise<void> => {
    if ((await deed.run()) !== undefined) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} isHeld={deed.isRunning}>
      <Text>{children}</Text>
      <Problem error={deed.error} />
      <div className="buttons">
        <Button color="red" loading={deed.isRunning} onClick={() => void run()}>
          {confirm}
        </Button>
        <Button variant="default" onClick={onClose} data-autofocus>
          {actions.cancel}
        </Button>
      </div>
    </Dialog>
  );
}
