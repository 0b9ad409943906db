import { Burger, Button } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useText } from '../i18n/use-text.ts';
import { AccountCard } from './account.tsx';
import { Brand } from './brand.tsx';
import { Preferences } from './preferences.tsx';
import { Link, usePath } from './router.tsx';
import { useSession } from './session.tsx';

/** The navigation beside the page; on a phone above it, behind a button. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const { shell } = useText();
  const { signOut } = useSession();
  const path = usePath();
  const [isOpen, setIsOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu.
  useEffect(() => setIsOpen(false), [path]);
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {shell.skip}
      </a>
      <header className="head">
        <div className="bar">
          <Brand />
          <Burger
            opened={isOpen}
            onClick={() => setIsOpen(!isOpen)}
            aria-label={shell.menu}
            aria-expanded={isOpen}
            aria-controls="menu"
            size="sm"
          />
        </div>
        <div className="side" id="menu" data-open={isOpen}>
          <div className="side-brand">
            <Brand />
          </div>
          <Navigation path={path} />
          <div className="side-foot">
            <AccountCard />
            <Preferences />
            <Button variant="default" fullWidth onClick={() => void signOut()}>
              {shell.signOut}
            </Button>
          </div>
        </div>
      </header>
      <main className="content" id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function Navigation({ path }: { readonly path: string }) {
  const { shell } = useText();
  const isApps = path === '/dashboard' || path.startsWith('/dashboard/apps');
  const entries = [
    { to: '/dashboard', text: shell.apps, isHere: isApps },
    { to: '/dashboard/api-keys', text: shell.keys },
    { to: '/dashboard/usage', text: shell.usage },
    { to: '/dashboard/members', text: shell.members },
    { to: '/dashboard/audit', text: shell.audit },
  ];
  return (
    <nav aria-label={shell.menu} className="nav">
      {entries.map(({ to, text, isHere = path === to }) => (
        <Link key={to} to={to} aria-current={isHere ? 'page' : undefined}>
          {text}
        </Link>
      ))}
      <a href="/docs">{shell.reference}</a>
    </nav>
  );
}
