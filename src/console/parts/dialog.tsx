import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../i18n/use-text.ts';

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** True while leaving it would lose something, such as a secret that is shown once: only its buttons close it. */
  readonly isHeld?: boolean;
  readonly children: ReactNode;
}

/** A window over the page. It takes the focus, and gives it back. */
export function Dialog({ title, isOpen, onClose, isHeld = false, children }: DialogProps) {
  const { actions } = useText();
  return (
    <Modal.Root
      opened={isOpen}
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
