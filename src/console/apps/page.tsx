import { Badge } from '@mantine/core';
import { useState } from 'react';
import { useText } from '../i18n/use-text.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { readableHost } from '../parts/readable.ts';
import { Link } from '../shell/router.tsx';
import { EmptyState, Shown } from '../states.tsx';
import { type App, analyticsOf, settingsOf, useApps } from './apps.ts';
import { CreateApp } from './create.tsx';
import { AtAGlance, TurnProvider, useTurn } from './glances.tsx';

/** The apps of the account, with the way to their figures and settings. */
export function AppsPage() {
  const { apps: text } = useText();
  const apps = useApps();
  const [isCreating, setIsCreating] = useState(false);
  const create = <OwnerButton onClick={() => setIsCreating(true)}>{text.create}</OwnerButton>;
  return (
    <>
      <PageHead title={text.title} action={create} changes>
        {text.intro}
      </PageHead>
      <Shown of={apps}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={text.none}>{text.noneText}</EmptyState>
          ) : (
            <AppTable apps={rows} />
          )
        }
      </Shown>
      {isCreating && <CreateApp onClose={() => setIsCreating(false)} />}
    </>
  );
}

function AppTable({ apps }: { readonly apps: readonly App[] }) {
  const { apps: text } = useText();
  const turn = useTurn();
  const columns: Column<App>[] = [
    {
      label: text.name,
      cell: (app) => (
        <div className="lines">
          <Link to={analyticsOf(app)}>
            <bdi>{app.name}</bdi>
          </Link>
          <bdi dir="ltr" className="faint" title={app.domain}>
            {readableHost(app.domain)}
          </bdi>
        </div>
      ),
    },
    { label: text.glance.title, cell: (app) => <AtAGlance app={app} /> },
    {
      label: text.access,
      cell: ({ access }) => (
        <Badge color={access === 'owner' ? 'blue' : 'gray'} variant="light" tt="none" miw="max-content">
          {text.accesses[access]}
        </Badge>
      ),
    },
    {
      label: text.actions,
      cell: (app) => (
        <div className="links">
          <Link to={analyticsOf(app)} aria-label={text.openApp(app.name)}>
            {text.open}
          </Link>
          <Link to={settingsOf(app)} aria-label={text.settingsOf(app.name)}>
            {text.settings}
          </Link>
        </div>
      ),
    },
  ];
  return (
    <TurnProvider value={turn}>
      <DataTable caption={text.title} columns={columns} rows={apps} keyOf={({ id }) => id} />
    </TurnProvider>
  );
}
