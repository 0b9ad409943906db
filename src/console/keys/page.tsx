import { Title } from '@mantine/core';
import { useText } from '../i18n/use-text.ts';

export function KeysPage() {
  const { shell } = useText();
  return <Title order={1}>{shell.keys}</Title>;
}
