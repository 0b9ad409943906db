import { Title } from '@mantine/core';
import { useText } from '../i18n/use-text.ts';

export function UsagePage() {
  const { shell } = useText();
  return <Title order={1}>{shell.usage}</Title>;
}
