import { Button } from '@mantine/core';
import { useWords } from '../words.ts';

interface Props {
  /** The rows that are not shown yet. */
  readonly left: number;
  /** The most rows that one click shows. */
  readonly step: number;
  readonly onMore: () => void;
}

/** Shows more rows of a list, if there are more. */
export function MoreRows({ left, step, onMore }: Props) {
  const { text, format } = useWords();
  if (left <= 0) return null;
  return (
    <Button size="compact-sm" variant="subtle" className="more" onClick={onMore}>
      {text.showMore(format.number(Math.min(left, step)))}
    </Button>
  );
}
