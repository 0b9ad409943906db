import { Title } from '@mantine/core';
import { useText } from '../i18n/use-text.ts';

export function AppsPage() {
  const { shell } = useText();
  return <Title order={1}>{shell.apps}</Title>;
}
