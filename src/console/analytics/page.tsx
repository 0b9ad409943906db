import { Title } from '@mantine/core';
import { useText } from '../i18n/use-text.ts';

/** The figures of one app. */
export function AnalyticsPage({ appId }: { readonly appId: string }) {
  const { analytics } = useText();
  return (
    <Title order={1} data-app={appId}>
      {analytics.title}
    </Title>
  );
}
