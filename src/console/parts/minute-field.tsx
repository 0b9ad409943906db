import { Input, TextInput } from '@mantine/core';
import { useFormat, useSpeech } from '../i18n/use-text.ts';
import { dateOf, dayOf } from './calendar.ts';
import { DayField } from './day-field.tsx';

export interface MinuteFieldProps {
  readonly label: string;
  /** The label of the field of the time, where it is apart. */
  readonly timeLabel: string;
  /** As people write a minute: `2026-11-20T10:46`, or the empty text. */
  readonly value: string;
  readonly problem?: string | null;
  readonly onChange: (value: string) => void;
}

/** A day and a minute: the browser's own field, or one with the calendar of the language. */
export function MinuteField({ label, timeLabel, value, problem = null, onChange }: MinuteFieldProps) {
  const format = useFormat();
  const { locale } = useSpeech().language;
  if (format.isGregorian) {
    return (
      <TextInput
        type="datetime-local"
        label={label}
        error={problem}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  const [date = '', time = ''] = value.split('T');
  return (
    <Input.Wrapper label={label} labelElement="div" error={problem}>
      <div className="minute-field">
        <DayField
          label={label}
          locale={locale}
          day={dayOf(date)}
          onChange={(day) => onChange(`${dateOf(day)}T${time}`)}
        />
        <TextInput
          type="time"
          aria-label={`${label}: ${timeLabel}`}
          value={time}
          onChange={(event) => onChange(`${date}T${event.currentTarget.value}`)}
        />
      </div>
    </Input.Wrapper>
  );
}
