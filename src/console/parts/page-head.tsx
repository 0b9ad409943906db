import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../i18n/use-text.ts';
import { useSession } from '../shell/session.tsx';
import { useWindowTitle } from './window-title.ts';

export interface PageHeadProps {
  readonly title: string;
  /** The purpose of the page. */
  readonly children?: ReactNode;
  /** The button of the page's first action. */
  readonly action?: ReactNode;
  /** True for a page on which an owner changes something: a viewer reads there why the buttons are off. */
  readonly changes?: boolean;
}

/** A page's title, which is also the window's, and its purpose. */
export function PageHead({ title, children, action, changes = false }: PageHeadProps) {
  const { states } = useText();
  const { mayChange } = useSession();
  useWindowTitle(title);
  return (
    <header className="page-head">
      <div>
        <Title order={1}>{title}</Title>
        {children !== undefined && (
          <Text c="dimmed" component="div" maw="44rem">
            {children}
          </Text>
        )}
        {changes && !mayChange && (
          <Text className="note" component="p">
            {states.viewer}
          </Text>
        )}
      </div>
      {action}
    </header>
  );
}
