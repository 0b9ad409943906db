import { Badge, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useAnswer } from '../answers.ts';
import { ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { When } from '../parts/when.tsx';
import { Shown } from '../states.tsx';
import type { App, AppLink } from './apps.ts';
import { ChangeSites } from './link-sites.tsx';
import { NewLink } from './new-link.tsx';

type Task = { readonly kind: 'create' } | { readonly kind: 'sites' | 'revoke'; readonly link: AppLink };

/** The links that show the app to people without an account. */
export function LinksOfApp({ app }: { readonly app: App }) {
  const { links: text } = useText().apps;
  const links = useAnswer('GET /apps/:appId/links', { appId: app.id });
  const [task, setTask] = useState<Task | null>(null);
  const [hasOld, setHasOld] = useState(false);
  const close = (): void => {
    setTask(null);
    links.reload();
  };
  const revoke = (link: AppLink) => () =>
    ask('POST /apps/:appId/links/:linkId/revoke', { params: { appId: app.id, linkId: link.linkId } });
  return (
    <>
      <Shown of={links} lines={1}>
        {(rows) => {
          const old = rows.filter(({ state }) => state !== 'active');
          const shown = hasOld ? rows : rows.filter(({ state }) => state === 'active');
          return (
            <>
              {shown.length === 0 ? (
                <Text>{text.none}</Text>
              ) : (
                <ul className="shares" aria-label={text.title}>
                  {shown.map((link) => (
                    <Row key={link.linkId} link={link} onTask={setTask} />
                  ))}
                </ul>
              )}
              {old.length > 0 && (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  aria-expanded={hasOld}
                  onClick={() => setHasOld(!hasOld)}
                >
                  {hasOld ? text.hideOld : text.showOld}
                </Button>
              )}
            </>
          );
        }}
      </Shown>
      <OwnerButton variant="default" onClick={() => setTask({ kind: 'create' })}>
        {text.create}
      </OwnerButton>
      {task?.kind === 'create' && <NewLink app={app} onClose={close} />}
      {task?.kind === 'sites' && <ChangeSites app={app} link={task.link} onClose={close} />}
      {task?.kind === 'revoke' && (
        <ConfirmDialog
          title={text.revokeLink(task.link.name)}
          confirm={text.revoke}
          work={revoke(task.link)}
          onClose={close}
        >
          {text.revokeText}
        </ConfirmDialog>
      )}
    </>
  );
}

function Row({ link, onTask }: { readonly link: AppLink; readonly onTask: (task: Task) => void }) {
  const { links: text } = useText().apps;
  const { name, state, segment, origins, expiresAt } = link;
  return (
    <li>
      <div className="lines">
        <bdi>{name}</bdi>
        {state !== 'active' && (
          <Badge color="gray" variant="light" tt="none">
            {text.states[state]}
          </Badge>
        )}
        {segment !== null && <code dir="ltr">{segment}</code>}
        {origins.length > 0 && <code dir="ltr">{origins.join(' ')}</code>}
        <span className="faint">
          {expiresAt === null ? (
            text.never
          ) : (
            <>
              {text.until} <When at={expiresAt} />
            </>
          )}
        </span>
      </div>
      {state === 'active' && (
        <div className="buttons">
          <OwnerButton
            size="xs"
            variant="default"
            aria-label={text.sitesOf(name)}
            onClick={() => onTask({ kind: 'sites', link })}
          >
            {text.sitesButton}
          </OwnerButton>
          <OwnerButton
            size="xs"
            variant="default"
            aria-label={text.revokeLink(name)}
            onClick={() => onTask({ kind: 'revoke', link })}
          >
            {text.revoke}
          </OwnerButton>
        </div>
      )}
    </li>
  );
}
