import { useState } from 'react';
import { useApps } from '../../apps/apps.ts';
import { NewLink } from '../../apps/new-link.tsx';
import { useLink } from '../../link/context.ts';
import { OwnerButton } from '../../parts/owner-button.tsx';
import { useAnalytics } from '../context.ts';
import { searchOf } from '../view/view.ts';
import { useWords } from '../words.ts';

/** Makes a link that shows this view without an account. Only the account that owns the app makes links to it. */
export function ShareView() {
  const { appId, view } = useAnalytics();
  const { text } = useWords();
  const app = useApps().data?.find(({ id }) => id === appId);
  const isLink = useLink() !== null;
  const [isOpen, setIsOpen] = useState(false);
  if (isLink || app?.access !== 'owner') return null;
  // The service adds the segment of the link to each question.
  const search = searchOf({ ...view, segment: '' });
  return (
    <>
      <OwnerButton size="compact-sm" variant="default" className="share-view" onClick={() => setIsOpen(true)}>
        {text.share}
      </OwnerButton>
      {isOpen && (
        <NewLink app={app} first={{ segment: view.segment, search }} onClose={() => setIsOpen(false)} />
      )}
    </>
  );
}
