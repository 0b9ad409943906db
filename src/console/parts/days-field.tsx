import { TextInput } from '@mantine/core';
import { daysIn } from '../i18n/digits.ts';
import { useFormat } from '../i18n/use-text.ts';

interface DaysFieldProps {
  readonly label: string;
  readonly description: string;
  readonly days: number | null;
  readonly onChange: (days: number | null) => void;
}

/** A field for a number of days, which may be empty. Shows the digits of the language, and takes those of any. */
export function DaysField({ label, description, days, onChange }: DaysFieldProps) {
  const format = useFormat();
  return (
    <TextInput
      label={label}
      description={description}
      value={days === null ? '' : format.number(days, { useGrouping: false })}
      inputMode="numeric"
      autoComplete="off"
      data-autofocus
      onChange={(event) => onChange(daysIn(event.currentTarget.value))}
    />
  );
}
