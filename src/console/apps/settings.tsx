import { Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useText } from '../i18n/use-text.ts';
import { PageHead } from '../parts/page-head.tsx';
import { readableHost } from '../parts/readable.ts';
import { Link } from '../shell/router.tsx';
import { EmptyState, NoAccessState, Shown } from '../states.tsx';
import { type App, analyticsOf, keptSecret, useApps } from './apps.ts';
import { ExcludedAddresses } from './excluded.tsx';
import { LinksOfApp } from './links.tsx';
import { RemoveApp } from './remove.tsx';
import { RetentionOfApp } from './retention.tsx';
import { RotateSecret } from './secret.tsx';
import { SetUp } from './set-up.tsx';
import { ShareApp } from './share.tsx';

/** The page on which an owner sets up an app, rotates its secret, shares it, makes links to it, leaves out addresses, lets its events expire, or deletes it. */
export function SettingsPage({ appId }: { readonly appId: string }) {
  const { apps: text } = useText();
  const apps = useApps();
  return (
    <Shown of={apps}>
      {(rows) => {
        const app = rows.find(({ id }) => id === appId);
        if (app === undefined) return <NoAccessState isPage />;
        return (
          <>
            <PageHead
              title={text.settingsOf(app.name)}
              changes
              action={<Link to={analyticsOf(app)}>{text.openApp(app.name)}</Link>}
            >
              <bdi dir="ltr" title={app.domain}>
                {readableHost(app.domain)}
              </bdi>
            </PageHead>
            {app.access === 'owner' ? (
              <Sections app={app} />
            ) : (
              <EmptyState title={text.accesses.shared}>{text.isShared}</EmptyState>
            )}
          </>
        );
      }}
    </Shown>
  );
}

function Sections({ app }: { readonly app: App }) {
  const { setUp, secret: secretText, share, links, excluded, retention, remove } = useText().apps;
  const [secret, setSecret] = useState(() => keptSecret(app.id));
  return (
    <div className="sections">
      <Section title={setUp.title} text={setUp.text}>
        <SetUp app={app} secret={secret} />
      </Section>
      <Section title={secretText.title} text={secretText.text}>
        <RotateSecret app={app} onRotated={setSecret} />
      </Section>
      <Section title={share.title} text={share.text}>
        <ShareApp app={app} />
      </Section>
      <Section title={links.title} text={links.text}>
        <LinksOfApp app={app} />
      </Section>
      <Section title={excluded.title} text={excluded.text}>
        <ExcludedAddresses app={app} />
      </Section>
      <Section title={retention.title} text={retention.text}>
        <RetentionOfApp app={app} />
      </Section>
      <Section title={remove.title} text={remove.text}>
        <RemoveApp app={app} />
      </Section>
    </div>
  );
}

function Section({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}) {
  return (
    <section className="section" aria-label={title}>
      <div>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text c="dimmed">{text}</Text>
      </div>
      <div className="section-body">{children}</div>
    </section>
  );
}
