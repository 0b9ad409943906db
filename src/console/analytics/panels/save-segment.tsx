import { Button, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useDeed } from '../../answers.ts';
import { ask } from '../../api.ts';
import { useText } from '../../i18n/use-text.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
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
  const { actions } = useText();
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
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ((await deed.run()) === undefined) return;
    onSaved();
    onClose();
  };
  return (
    <Dialog title={text.segments.saveTitle} onClose={onClose} isHeld={deed.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
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
        <Problem error={deed.error} />
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            {actions.cancel}
          </Button>
          <Button type="submit" loading={deed.isRunning} disabled={name === ''}>
            {replaced === undefined ? text.segments.saveIt : text.segments.replace}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
