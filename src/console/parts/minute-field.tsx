import { Input, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useFormat, useSpeech } from '../i18n/use-text.ts';
import { dateOf, dayOf } from './calendar.ts';
import { DayField } from './day-field.tsx';
import { folded } from './readable.ts';

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
        <ClockField
          label={`${label}: ${timeLabel}`}
          time={time}
          onChange={(next) => onChange(`${date}T${next}`)}
        />
      </div>
    </Input.Wrapper>
  );
}

interface ClockFieldProps {
  readonly label: string;
  /** As `09:30`. */
  readonly time: string;
  readonly onChange: (time: string) => void;
}

/** A time of day, in the digits of the language. Takes those of any; the browser's own field has those of the system. */
function ClockField({ label, time, onChange }: ClockFieldProps) {
  const format = useFormat();
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const shown = [hour, minute].map((part) => format.number(part, { minimumIntegerDigits: 2 })).join(':');
  const [typed, setTyped] = useState(shown);
  const change = (text: string): void => {
    setTyped(text);
    const [, hours = '', minutes = ''] = /^(\d{1,2})\D(\d{2})$/.exec(folded(text.trim())) ?? [];
    const isTime = minutes !== '' && Number(hours) < 24 && Number(minutes) < 60;
    // Anything else is no time, and the form says so.
    onChange(isTime ? `${hours.padStart(2, '0')}:${minutes}` : '');
  };
  return (
    <TextInput
      className="clock-field"
      inputMode="numeric"
      dir="ltr"
      aria-label={label}
      value={typed}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
