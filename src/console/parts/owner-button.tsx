import { Button, type ButtonProps } from '@mantine/core';
import { useText } from '../i18n/use-text.ts';
import { useSession } from '../shell/session.tsx';

export interface OwnerButtonProps extends ButtonProps {
  readonly onClick?: (() => void) | undefined;
  readonly type?: 'button' | 'submit';
  readonly 'aria-label'?: string;
}

/** A button that changes something. For a viewer it is off and says why, also to a keyboard and a screen reader. */
export function OwnerButton({ onClick, type = 'button', ...rest }: OwnerButtonProps) {
  const { states } = useText();
  const { mayChange } = useSession();
  if (mayChange) return <Button {...rest} type={type} {...(onClick === undefined ? {} : { onClick })} />;
  return (
    <Button
      {...rest}
      type="button"
      data-disabled
      aria-disabled
      title={states.viewerCannot}
      aria-description={states.viewerCannot}
    />
  );
}
