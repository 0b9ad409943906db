import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useDeed } from '../../answers.ts';
import { ask } from '../../api.ts';
import { DeedForm } from '../../parts/deed-form.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { SavedSegments } from '../segments.ts';
import { useWords } from '../words.ts';
import { useFilterWords } from './filter-words.ts';

interface Props extends Pick<SavedSegments, 'all'> {
  readonly segment: string;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

const sameName = (one: string, other: string): boolean =>
  one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();

/** Saves the filters of the page under a name. A name that is there gets these filters instead of its own. */
export function SaveSegment({ all, segment, onSaved, onClose }: Props) {
  const { text } = useWords();
  const words = useFilterWords();
  const [typed, setTyped] = useState('');
  const name = typed.trim();
  const replaced = all.find((each) => sameName(each.name, name));
  const deed = useDeed(() => {
    const body = { name: replaced?.name ?? name, segment };
    return replaced === undefined
      ? ask('POST /segments', { body })
      : ask('PUT /segments/:segmentId', { params: { segmentId: replaced.segmentId }, body });
  });
  const saved = (): void => {
    onSaved();
    onClose();
  };
  return (
    <Dialog title={text.segments.saveTitle} onClose={onClose} isHeld={deed.isRunning}>
      <DeedForm
        deed={deed}
        button={replaced === undefined ? text.segments.saveIt : text.segments.replace}
        isReady={name !== ''}
        onDone={saved}
        onClose={onClose}
      >
        <Text>
          <bdi>{words.segment(segment)}</bdi>
        </Text>
        <TextInput
          label={text.segments.name}
          description={
            replaced === undefined ? text.segments.nameHint : text.segments.replaces(replaced.name)
          }
          value={typed}
          maxLength={100}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </DeedForm>
    </Dialog>
  );
}
