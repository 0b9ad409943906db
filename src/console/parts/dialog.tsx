import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useText } from '../i18n/use-text.ts';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** True while leaving it would lose something, such as a secret that is shown once: only its buttons close it. */
  readonly isHeld?: boolean;
  readonly children: ReactNode;
}

/** A window over the page, as long as it is there. It takes the focus, and gives it back to the button that opened it. */
export function Dialog({ title, onClose, isHeld = false, children }: DialogProps) {
  const { actions } = useText();
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement) opener.focus();
    },
    [opener],
  );
  return (
    <Modal.Root
      opened
      returnFocus={false}
      onClose={onClose}
      closeOnClickOutside={!isHeld}
      closeOnEscape={!isHeld}
      centered
      size="lg"
      // It would write a style element, which the page's policy forbids.
      lockScroll={false}
    >
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body className="dialog">
          <div className="dialog-head">
            <Modal.Title>{title}</Modal.Title>
            {!isHeld && <Modal.CloseButton aria-label={actions.close} />}
          </div>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
