import { FIGURES, type FigureName } from '../../answers/figures.ts';
import type { Format } from '../i18n/format.ts';
import type { Texts } from '../i18n/texts.ts';
import { useFormat, useSpeech, useText } from '../i18n/use-text.ts';
import { readableHost, readablePath } from '../parts/readable.ts';
import type { Change } from './changes.ts';
import type { NameKind } from './lists.ts';
import type { Range } from './view/range.ts';
import { HOUR_MS, startsDay, type Zone } from './view/zone.ts';

type Text = Texts['analytics'];

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' } as const;

/** How values, times and names are written on this page, in the person's language. */
export interface Words {
  readonly text: Text;
  readonly format: Format;
  readonly figure: (name: FigureName, value: number) => string;
  readonly change: (change: Change) => string;
  readonly period: (range: Range, zone: Zone) => string;
  /** A day in both calendars, if the language has another one. */
  readonly day: (at: number | string, zone?: Zone) => string;
  readonly month: (at: number, zone: Zone) => string;
  readonly minute: (at: number, zone: Zone) => string;
  readonly clock: (at: number, zone: Zone) => string;
  readonly hour: (hour: number) => string;
  /** From an hour of the day to the next one: 09:00–10:00. */
  readonly hourSpan: (hour: number) => string;
  readonly name: (kind: NameKind, name: string | null) => string;
}

export function useWords(): Words {
  const { analytics } = useText();
  const format = useFormat();
  const { locale } = useSpeech().language;
  return wordsOf(analytics, format, locale);
}

function wordsOf(text: Text, format: Format, locale: string): Words {
  const beside = (first: string, second: string): string => (second === '' ? first : `${first} (${second})`);
  const spanOf = (from: string, to: string): string => (from === to ? from : `${from} – ${to}`);
  const day: Words['day'] = (at, zone = 'UTC') => beside(format.date(at, zone), format.gregorian(at, zone));
  const minute: Words['minute'] = (at, zone) => format.dateTime(at, zone);
  return {
    text,
    format,
    figure: (name, value) => written(format, name, value),
    change: (change) => {
      if (change.kind === 'points') {
        const points = format.number(change.points, { maximumFractionDigits: 1, signDisplay: 'exceptZero' });
        return text.change.points(points);
      }
      if (change.kind !== 'percent') return text.change[change.kind];
      // As a unit: a hundredth of 9.45, times a hundred, is less than 9.45, and would be written as 9.4.
      return format.number(change.percent, {
        style: 'unit',
        unit: 'percent',
        maximumFractionDigits: Math.abs(change.percent) < 100 ? 1 : 0,
        signDisplay: 'exceptZero',
      });
    },
    period: ({ from, to }, zone) => {
      const areDays = startsDay(from, zone) && startsDay(to + 1, zone);
      if (!areDays) return spanOf(minute(from, zone), minute(to, zone));
      const gregorian = spanOf(format.gregorian(from, zone), format.gregorian(to, zone));
      return beside(spanOf(format.date(from, zone), format.date(to, zone)), gregorian);
    },
    day,
    month: (at, timeZone) =>
      format.dateWith(at, { month: 'long', year: 'numeric', timeZone, calendar: 'gregory' }),
    minute,
    clock: (at, zone) => format.dateWith(at, { ...CLOCK, timeZone: zone }),
    hour: (hour) => format.number(hour, { minimumIntegerDigits: 2 }),
    hourSpan: (hour) =>
      [hour, (hour + 1) % 24].map((each) => format.dateWith(each * HOUR_MS, CLOCK)).join('–'),
    name: (kind, name) => nameOf(text, format, locale, kind, name),
  };
}

function written(format: Format, name: FigureName, value: number): string {
  switch (FIGURES[name].unit) {
    case 'milliseconds':
      return format.seconds(value / 1000);
    case 'rate':
      return format.percent(value);
    case 'average':
      return format.number(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    default:
      return format.number(value);
  }
}

function nameOf(text: Text, format: Format, locale: string, kind: NameKind, name: string | null): string {
  if (name === null || name === '(none)') return text.none;
  switch (kind) {
    case 'channel':
      return text.channels[name] ?? name;
    case 'device':
      return text.devices[name] ?? name;
    case 'visitorType':
      return text.visitorTypes[name] ?? name;
    case 'path':
      return readablePath(name);
    case 'host':
      return readableHost(name);
    case 'place':
      return text.cities[name] ?? name;
    case 'country':
      return format.country(name);
    case 'language':
      return languageOf(locale, name);
    default:
      return name;
  }
}

function languageOf(locale: string, code: string): string {
  try {
    return new Intl.DisplayNames([locale], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}
