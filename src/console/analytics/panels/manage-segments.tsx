import { Button, Text, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useDeed } from '../../answers.ts';
import { ask } from '../../api.ts';
import { useText } from '../../i18n/use-text.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { OwnerButton } from '../../parts/owner-button.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAnalytics } from '../context.ts';
import type { SavedSegment, SavedSegments } from '../segments.ts';
import { segmentIn } from '../view/filters.ts';
import { useWords } from '../words.ts';
import { useFilterWords } from './filter-words.ts';

interface Props extends Pick<SavedSegments, 'all' | 'reload'> {
  readonly onClose: () => void;
}

/** All saved segments: to apply, rename and delete. */
export function ManageSegments({ all, reload, onClose }: Props) {
  const { text } = useWords();
  const list = useRef<HTMLUListElement>(null);
  const changed = (): void => {
    reload();
    // The button that did it is gone.
    list.current?.focus();
  };
  return (
    <Dialog title={text.segments.title} onClose={onClose}>
      {all.length === 0 && <Text>{text.segments.none}</Text>}
      <ul className="segments" ref={list} tabIndex={-1} aria-label={text.segments.title}>
        {all.map((each) => (
          <Saved key={each.segmentId} of={each} onChanged={changed} onClose={onClose} />
        ))}
      </ul>
    </Dialog>
  );
}

interface SavedProps {
  readonly of: SavedSegment;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

function Saved({ of: saved, onChanged, onClose }: SavedProps) {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const words = useFilterWords();
  const [step, setStep] = useState<'rename' | 'delete' | null>(null);
  const segment = segmentIn(saved.segment);
  const isCurrent = segment === view.segment;
  const apply = (): void => {
    change({ segment });
    onClose();
  };
  const done = (): void => {
    setStep(null);
    onChanged();
  };
  if (step === 'rename') return <Rename of={saved} onDone={done} onCancel={() => setStep(null)} />;
  if (step === 'delete') return <Delete of={saved} onDone={done} onCancel={() => setStep(null)} />;
  return (
    <li>
      <button type="button" className="segment-apply" aria-current={isCurrent} onClick={apply}>
        <b>
          <bdi>{saved.name}</bdi>
        </b>
        <span className="hint">
          <bdi>{words.segment(saved.segment)}</bdi>
        </span>
      </button>
      <div className="segment-deeds">
        <OwnerButton
          size="compact-sm"
          variant="subtle"
          aria-label={text.segments.renameOf(saved.name)}
          onClick={() => setStep('rename')}
        >
          {text.segments.rename}
        </OwnerButton>
        <OwnerButton
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={text.segments.deleteOf(saved.name)}
          onClick={() => setStep('delete')}
        >
          {text.segments.delete}
        </OwnerButton>
      </div>
    </li>
  );
}

interface StepProps {
  readonly of: SavedSegment;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

function Rename({ of: { segmentId, name, segment }, onDone, onCancel }: StepProps) {
  const { text } = useWords();
  const { actions } = useText();
  const [typed, setTyped] = useState(name);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const deed = useDeed(() =>
    ask('PUT /segments/:segmentId', { params: { segmentId }, body: { name: typed.trim(), segment } }),
  );
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if ((await deed.run()) !== undefined) onDone();
  };
  return (
    <li>
      <form onSubmit={(event) => void submit(event)}>
        <TextInput
          ref={field}
          label={text.segments.name}
          value={typed}
          maxLength={100}
          autoComplete="off"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Problem error={deed.error} />
        <div className="buttons">
          <Button size="compact-sm" variant="default" onClick={onCancel}>
            {actions.cancel}
          </Button>
          <Button size="compact-sm" type="submit" loading={deed.isRunning} disabled={typed.trim() === ''}>
            {text.segments.rename}
          </Button>
        </div>
      </form>
    </li>
  );
}

function Delete({ of: { segmentId, name }, onDone, onCancel }: StepProps) {
  const { text } = useWords();
  const { actions } = useText();
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), []);
  const deed = useDeed(() => ask('DELETE /segments/:segmentId', { params: { segmentId } }));
  const run = async (): Promise<void> => {
    if ((await deed.run()) !== undefined) onDone();
  };
  return (
    <li>
      <Text>{text.segments.deleteAsk(name)}</Text>
      <Problem error={deed.error} />
      <div className="buttons">
        <Button ref={cancel} size="compact-sm" variant="default" onClick={onCancel}>
          {actions.cancel}
        </Button>
        <Button size="compact-sm" color="red" loading={deed.isRunning} onClick={() => void run()}>
          {text.segments.delete}
        </Button>
      </div>
    </li>
  );
}
