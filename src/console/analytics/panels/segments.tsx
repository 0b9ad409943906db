import { Button, NativeSelect } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLink } from '../../link/context.ts';
import { OwnerButton } from '../../parts/owner-button.tsx';
import { useAnalytics } from '../context.ts';
import type { SavedSegments } from '../segments.ts';
import { filtersOf, segmentIn } from '../view/filters.ts';
import { useWords } from '../words.ts';
import { ManageSegments } from './manage-segments.tsx';
import { SaveSegment } from './save-segment.tsx';

/** The value of filters that are not saved. It is no id of a segment. */
const OWN = 'own';
const CHOICE = 'segment-choice';

/** Applies a saved segment, as soon as there is one. */
export function SegmentChoice({ saved: { all, current, reload } }: { readonly saved: SavedSegments }) {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const [isManaging, setIsManaging] = useState(false);
  const isOwn = view.segment !== '' && current === undefined;
  const apply = (id: string): void => {
    if (id === OWN) return;
    change({ segment: segmentIn(all.find(({ segmentId }) => segmentId === id)?.segment ?? '') });
  };
  return (
    <>
      {all.length > 0 && (
        <div className="segment-choice">
          <NativeSelect
            size="xs"
            id={CHOICE}
            label={text.segments.label}
            value={isOwn ? OWN : (current?.segmentId ?? '')}
            data={[
              { value: '', label: text.segments.all },
              ...all.map(({ segmentId, name }) => ({ value: segmentId, label: name })),
              ...(isOwn ? [{ value: OWN, label: text.segments.own }] : []),
            ]}
            onChange={(event) => apply(event.currentTarget.value)}
          />
          <Button
            size="compact-sm"
            variant="default"
            aria-haspopup="dialog"
            onClick={() => setIsManaging(true)}
          >
            {text.segments.manage}
          </Button>
        </div>
      )}
      {isManaging && <ManageSegments all={all} reload={reload} onClose={() => setIsManaging(false)} />}
    </>
  );
}

/** Saves the filters of the page, if they are not saved. Nobody saves those of a link. */
export function SaveFilters({ saved: { all, current, reload } }: { readonly saved: SavedSegments }) {
  const { view } = useAnalytics();
  const { text } = useWords();
  const isLink = useLink() !== null;
  const [isOpen, setIsOpen] = useState(false);
  const [isDone, setIsDone] = useState(false);
  useEffect(() => {
    if (!isDone || current === undefined) return;
    setIsDone(false);
    // The button that saved them is gone.
    document.getElementById(CHOICE)?.focus();
  }, [isDone, current]);
  if (isLink || filtersOf(view.segment).length === 0 || current !== undefined) return null;
  return (
    <>
      <OwnerButton size="compact-sm" variant="default" onClick={() => setIsOpen(true)}>
        {text.segments.save}
      </OwnerButton>
      {isOpen && (
        <SaveSegment
          all={all}
          segment={view.segment}
          onSaved={() => {
            setIsDone(true);
            reload();
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}
