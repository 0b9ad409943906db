import { ActionIcon, Button, Popover } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useFormat, useText } from '../i18n/use-text.ts';
import { calendarOf, dateOf, instantOfDay, monthOf, weekdayOf } from './calendar.ts';

interface DayFieldProps {
  readonly label: string;
  readonly locale: string;
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly onChange: (day: number) => void;
}

/** A day that is chosen in the calendar of the language. */
export function DayField({ label, locale, day, onChange }: DayFieldProps) {
  const format = useFormat();
  const [isOpen, setIsOpen] = useState(false);
  const choose = (chosen: number): void => {
    onChange(chosen);
    setIsOpen(false);
  };
  return (
    <Popover opened={isOpen} onChange={setIsOpen} trapFocus returnFocus position="bottom-start" shadow="md">
      <Popover.Target>
        <Button
          variant="default"
          aria-label={`${label}: ${format.date(instantOfDay(day))}`}
          onClick={() => setIsOpen(!isOpen)}
        >
          {format.date(instantOfDay(day))}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <MonthGrid locale={locale} chosen={day} onChoose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface MonthGridProps {
  readonly locale: string;
  readonly chosen: number;
  readonly onChoose: (day: number) => void;
}

/** How far the keys move, in a language that is written from left to right. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

function MonthGrid({ locale, chosen, onChoose }: MonthGridProps) {
  const { actions } = useText();
  const format = useFormat();
  const calendar = calendarOf(locale);
  const [at, setAt] = useState(chosen);
  const grid = useRef<HTMLDivElement>(null);
  const month = monthOf(at, calendar);
  const isRtl = document.documentElement.dir === 'rtl';
  const named = (day: number, options: Intl.DateTimeFormatOptions): string =>
    format.dateWith(instantOfDay(day), { ...options, timeZone: 'UTC' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus follows the day.
  useEffect(() => grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus(), [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setAt(at + (Math.abs(step) === 1 && isRtl ? -step : step));
  };
  const before = (weekdayOf(month.first) - format.firstWeekday + 7) % 7;
  const days = Array.from({ length: month.length }, (_, i) => month.first + i);
  return (
    <div className="month">
      <div className="month-head">
        <ActionIcon
          variant="default"
          aria-label={actions.monthBefore}
          onClick={() => setAt(monthOf(month.first - 1, calendar).first)}
        >
          <span aria-hidden="true">‹</span>
        </ActionIcon>
        <b aria-live="polite">
          {named(month.first, { month: 'long' })} {named(month.first, { year: 'numeric' })}
        </b>
        <ActionIcon
          variant="default"
          aria-label={actions.monthAfter}
          onClick={() => setAt(month.first + month.length)}
        >
          <span aria-hidden="true">›</span>
        </ActionIcon>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move between its buttons. */}
      <div className="month-grid" ref={grid} onKeyDown={onKeyDown}>
        {Array.from({ length: 7 }, (_, i) => month.first - before + i).map((day) => (
          <span key={day} className="month-weekday" aria-hidden="true">
            {named(day, { weekday: 'narrow' })}
          </span>
        ))}
        {days.map((day, i) => (
          <button
            key={day}
            type="button"
            className="month-day"
            style={i === 0 ? { gridColumnStart: before + 1 } : undefined}
            tabIndex={day === at ? 0 : -1}
            aria-pressed={day === chosen}
            aria-label={named(day, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })}
            data-date={dateOf(day)}
            onClick={() => onChoose(day)}
          >
            {named(day, { day: 'numeric' })}
          </button>
        ))}
      </div>
    </div>
  );
}
