import { NativeSelect, Text } from '@mantine/core';
import { useText } from '../i18n/use-text.ts';
import { useSession } from './session.tsx';

/** Who is signed in, in which account. A member of several changes between them here. */
export function AccountCard() {
  const { shell } = useText();
  const { session, changeAccount } = useSession();
  const { account, accounts, email, role } = session;
  return (
    <div className="account">
      {accounts.length > 1 ? (
        <NativeSelect
          label={shell.account}
          value={account.accountId}
          data={accounts.map(({ accountId, name }) => ({ value: accountId, label: name }))}
          onChange={(event) => void changeAccount(event.currentTarget.value)}
        />
      ) : (
        <Text fw={600} truncate="end" title={account.name}>
          {account.name}
        </Text>
      )}
      <code dir="ltr" title={shell.accountId}>
        {account.accountId}
      </code>
      <Text size="sm" c="dimmed" truncate="end" title={email ?? shell.byLink}>
        <bdi>{email ?? shell.byLink}</bdi> · {shell[role]}
      </Text>
    </div>
  );
}
