import { Title } from '@mantine/core';
import { useText } from '../i18n/use-text.ts';

export function AuditPage() {
  const { shell } = useText();
  return <Title order={1}>{shell.audit}</Title>;
}
