import { Badge } from '@mantine/core';
import { useState } from 'react';
import { useAnswer } from '../answers.ts';
import { useText } from '../i18n/use-text.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { When } from '../parts/when.tsx';
import { EmptyState, Shown } from '../states.tsx';
import { CreateKey, RevokeKey, RotateKey } from './dialogs.tsx';
import { type Key, useNameOf } from './key.ts';

type Task = { readonly kind: 'create' } | { readonly kind: 'rotate' | 'revoke'; readonly key: Key };

const ORDER: Readonly<Record<Key['state'], number>> = { active: 0, expired: 1, revoked: 2 };
const COLOURS: Readonly<Record<Key['state'], string>> = { active: 'green', expired: 'gray', revoked: 'gray' };

/** The account's keys, those that work first. */
export function KeysPage() {
  const { keys: text } = useText();
  const keys = useAnswer('GET /keys');
  const [task, setTask] = useState<Task | null>(null);
  const create = <OwnerButton onClick={() => setTask({ kind: 'create' })}>{text.create}</OwnerButton>;
  const close = (): void => {
    setTask(null);
    keys.reload();
  };
  return (
    <>
      <PageHead title={text.title} action={create} changes>
        {text.intro}
      </PageHead>
      <Shown of={keys}>
        {(rows) =>
          rows.length === 0 ? (
            // Its button would go with it, and take the focus along.
            <EmptyState title={text.none}>{text.noneText}</EmptyState>
          ) : (
            <KeyTable keys={sorted(rows)} onTask={setTask} />
          )
        }
      </Shown>
      {task?.kind === 'create' && <CreateKey onClose={close} />}
      {task?.kind === 'rotate' && <RotateKey of={task.key} onClose={close} />}
      {task?.kind === 'revoke' && <RevokeKey of={task.key} onClose={close} />}
    </>
  );
}

const sorted = (keys: readonly Key[]): Key[] =>
  [...keys].sort((a, b) => ORDER[a.state] - ORDER[b.state] || (a.createdAt < b.createdAt ? 1 : -1));

function KeyTable({
  keys,
  onTask,
}: {
  readonly keys: readonly Key[];
  readonly onTask: (task: Task) => void;
}) {
  const { keys: text, time } = useText();
  const nameOf = useNameOf();
  const never = <span className="faint">{time.never}</span>;
  const columns: Column<Key>[] = [
    { label: text.name, cell: (key) => <bdi>{key.name ?? text.unnamed}</bdi> },
    { label: text.prefix, cell: ({ prefix }) => prefix !== null && <code dir="ltr">{prefix}…</code> },
    { label: text.state, cell: (key) => <State of={key} /> },
    { label: text.createdAt, cell: ({ createdAt }) => <When at={createdAt} /> },
    {
      label: text.lastUsedAt,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? never : <When at={lastUsedAt} />),
    },
    {
      label: text.expiresAt,
      cell: ({ expiresAt }) => (expiresAt === null ? never : <When at={expiresAt} />),
    },
    {
      label: text.actions,
      cell: (key) =>
        key.state === 'active' && (
          <div className="buttons">
            <OwnerButton
              size="xs"
              variant="default"
              aria-label={text.rotateKey(nameOf(key))}
              onClick={() => onTask({ kind: 'rotate', key })}
            >
              {text.rotate}
            </OwnerButton>
            <OwnerButton
              size="xs"
              variant="default"
              aria-label={text.revokeKey(nameOf(key))}
              onClick={() => onTask({ kind: 'revoke', key })}
            >
              {text.revoke}
            </OwnerButton>
          </div>
        ),
    },
  ];
  return <DataTable caption={text.title} columns={columns} rows={keys} keyOf={({ keyId }) => keyId} />;
}

function State({ of: { state, replacedBy } }: { readonly of: Key }) {
  const { keys: text } = useText();
  return (
    <div>
      <Badge color={COLOURS[state]} variant="light" tt="none">
        {text.states[state]}
      </Badge>
      {replacedBy !== null && <div className="faint">{text.replaced}</div>}
    </div>
  );
}
