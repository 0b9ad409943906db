import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { useAnswer, useDeed } from '../answers.ts';
import { type Answer, ask } from '../api.ts';
import { useText } from '../i18n/use-text.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { OwnerButton } from '../parts/owner-button.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Problem } from '../parts/problem.tsx';
import { When } from '../parts/when.tsx';
import { useSession } from '../shell/session.tsx';
import { EmptyState, Shown } from '../states.tsx';
import { Invite } from './invite.tsx';

type Member = Answer<'GET /members'>[number];
type Role = Member['role'];
type Task = { readonly kind: 'invite' } | { readonly kind: 'again' | 'remove'; readonly member: Member };

const ROLES: readonly Role[] = ['owner', 'viewer'];

/** The people of the account, whom its owners invite and remove. */
export function MembersPage() {
  const { members: text } = useText();
  const members = useAnswer('GET /members');
  const [task, setTask] = useState<Task | null>(null);
  const invite = <OwnerButton onClick={() => setTask({ kind: 'invite' })}>{text.invite}</OwnerButton>;
  const close = (): void => {
    setTask(null);
    members.reload();
  };
  return (
    <>
      <PageHead title={text.title} action={invite} changes>
        {text.intro}
      </PageHead>
      <Shown of={members}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={text.none}>{text.noneText}</EmptyState>
          ) : (
            <MemberTable members={rows} onTask={setTask} onChanged={members.reload} />
          )
        }
      </Shown>
      {task?.kind === 'invite' && <Invite onClose={close} />}
      {task?.kind === 'again' && <Invite again={task.member} onClose={close} />}
      {task?.kind === 'remove' && (
        <ConfirmDialog
          title={text.removeOne(task.member.email)}
          confirm={text.remove}
          work={() => ask('DELETE /members/:email', { params: { email: task.member.email } })}
          onClose={close}
        >
          {text.removeText}
        </ConfirmDialog>
      )}
    </>
  );
}

interface TableProps {
  readonly members: readonly Member[];
  readonly onTask: (task: Task) => void;
  readonly onChanged: () => void;
}

function MemberTable({ members, onTask, onChanged }: TableProps) {
  const { members: text } = useText();
  const { session } = useSession();
  const owners = members.filter(({ role }) => role === 'owner');
  const isLastOwner = ({ role }: Member): boolean => role === 'owner' && owners.length === 1;
  const columns: Column<Member>[] = [
    {
      label: text.email,
      cell: ({ email }) => (
        <div className="lines">
          <bdi dir="ltr">{email}</bdi>
          {email === session.email && <span className="faint">{text.you}</span>}
        </div>
      ),
    },
    {
      label: text.role,
      cell: (member) => <RoleOf member={member} isFixed={isLastOwner(member)} onChanged={onChanged} />,
    },
    {
      label: text.link,
      cell: ({ linkUntil }) =>
        linkUntil === null ? (
          <span className="faint">{text.noLink}</span>
        ) : (
          <div className="lines">
            <span className="faint">{text.until}</span>
            <When at={linkUntil} />
          </div>
        ),
    },
    {
      label: text.actions,
      cell: (member) => (
        <div className="buttons">
          <OwnerButton
            size="xs"
            variant="default"
            aria-label={text.againFor(member.email)}
            onClick={() => onTask({ kind: 'again', member })}
          >
            {text.again}
          </OwnerButton>
          {!isLastOwner(member) && (
            <OwnerButton
              size="xs"
              variant="default"
              aria-label={text.removeOne(member.email)}
              onClick={() => onTask({ kind: 'remove', member })}
            >
              {text.remove}
            </OwnerButton>
          )}
        </div>
      ),
    },
  ];
  return <DataTable caption={text.title} columns={columns} rows={members} keyOf={({ email }) => email} />;
}

interface RoleProps {
  readonly member: Member;
  /** True for the last owner, who stays one. */
  readonly isFixed: boolean;
  readonly onChanged: () => void;
}

function RoleOf({ member: { email, role }, isFixed, onChanged }: RoleProps) {
  const { members: text, shell } = useText();
  const { mayChange } = useSession();
  const change = useDeed((next: string) =>
    ask('PUT /members/:email', { params: { email }, body: { role: next } }),
  );
  if (!mayChange || isFixed) return shell[role];
  const choose = async (next: string): Promise<void> => {
    await change.run(next);
    onChanged();
  };
  return (
    <>
      <NativeSelect
        size="xs"
        miw="max-content"
        aria-label={text.roleOf(email)}
        value={role}
        disabled={change.isRunning}
        data={ROLES.map((value) => ({ value, label: shell[value] }))}
        onChange={(event) => void choose(event.currentTarget.value)}
      />
      <Problem error={change.error} />
    </>
  );
}
