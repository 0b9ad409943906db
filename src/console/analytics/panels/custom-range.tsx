import { Button } from '@mantine/core';
import { useState } from 'react';
import { MinuteField } from '../../parts/minute-field.tsx';
import { type Minutes, rangeProblem } from '../view/range.ts';
import { wallMinute } from '../view/zone.ts';
import { useWords } from '../words.ts';

interface CustomRangeProps {
  /** What it is the range of, if that is not the page's. */
  readonly title?: string;
  readonly first: Minutes;
  readonly onChoose: (minutes: Minutes) => void;
}

/** Two minutes, as clocks of the zone show them. */
export function CustomRange({ title, first, onChoose }: CustomRangeProps) {
  const { text } = useWords();
  const [from, setFrom] = useState<string>(first.from);
  const [to, setTo] = useState<string>(first.to);
  const [problem, setProblem] = useState<string | null>(null);
  const label = (name: string): string => (title === undefined ? name : `${title}: ${name}`);
  const show = (): void => {
    const minutes = { from: wallMinute(from), to: wallMinute(to) };
    if (minutes.from === null || minutes.to === null) {
      setProblem(text.range.empty);
      return;
    }
    const found = rangeProblem(minutes as Minutes);
    setProblem(found === null ? null : text.range[found]);
    if (found === null) onChoose(minutes as Minutes);
  };
  return (
    <form
      className="toolbar-row"
      onSubmit={(event) => {
        event.preventDefault();
        show();
      }}
    >
      <MinuteField
        label={label(text.range.from)}
        timeLabel={text.range.clock}
        value={from}
        onChange={setFrom}
      />
      <MinuteField
        label={label(text.range.to)}
        timeLabel={text.range.clock}
        value={to}
        problem={problem}
        onChange={setTo}
      />
      <Button type="submit" className="toolbar-apply">
        {text.range.apply}
      </Button>
    </form>
  );
}
