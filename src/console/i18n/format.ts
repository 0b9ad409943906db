const DEFAULT_ZONE = 'UTC';

type When = string | number | Date;

export interface Format {
  number(value: number, options?: Intl.NumberFormatOptions): string;
  /** 1,234,567 as 1.2M. */
  compact(value: number): string;
  /** 0.123 as 12.3%. */
  percent(ratio: number, options?: Intl.NumberFormatOptions): string;
  /** 3,725 as 1 h 2 min. */
  seconds(value: number): string;
  /** A day in the language's calendar. */
  date(at: When, zone?: string): string;
  /** A day in the other calendar, to stand beside `date`; empty in a language with the Gregorian one. */
  gregorian(at: When, zone?: string): string;
  /** A day and minute in the language's calendar. */
  dateTime(at: When, zone?: string): string;
  /** In 3 days, 2 hours ago. */
  relative(at: When, now: number): string;
  /** The same with options, for the axes of charts. */
  dateWith(at: When, options: Intl.DateTimeFormatOptions): string;
  country(code: string): string;
  /** The first day of the week as ISO counts it; Monday where the browser does not know. */
  firstWeekday: number;
  /** Whether days are written in the Gregorian calendar, which the browser's own fields have. */
  isGregorian: boolean;
}

function firstWeekdayOf(locale: string): number {
  const known = new Intl.Locale(locale) as { getWeekInfo?: () => { readonly firstDay: number } };
  return known.getWeekInfo?.().firstDay ?? 1;
}

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set('ar fa he ur'.split(' '));

/**
 * Isolates a number with a sign, which would otherwise stand on the other side of it after a word. The marks that Intl
 * writes for this go: they would turn the words that follow.
 */
const isolated = (text: string): string =>
  /[٪%+\u2212-]/.test(text) ? `\u2066${text.replace(/\u200e/g, '')}\u2069` : text;

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const DAY: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' };
const MINUTE: Intl.DateTimeFormatOptions = { ...DAY, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/** Formats for a locale. Makes each of Intl's formatters once, because making one is slow. */
export function formatOf(locale: string): Format {
  const made = new Map<string, unknown>();
  const once = <T>(key: string, make: () => T): T => {
    const known = made.get(key) as T | undefined;
    const value = known ?? make();
    made.set(key, value);
    return value;
  };
  const isRtl = RIGHT_TO_LEFT.has(new Intl.Locale(locale).language);
  const number = (value: number, options: Intl.NumberFormatOptions = {}): string => {
    const format = once(`number ${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale, options));
    return isRtl ? isolated(format.format(value)) : format.format(value);
  };
  const dateIn = (tag: string, at: When, options: Intl.DateTimeFormatOptions): string =>
    once(`date ${tag} ${JSON.stringify(options)}`, () => new Intl.DateTimeFormat(tag, options)).format(
      new Date(at),
    );
  const dateWith = (at: When, options: Intl.DateTimeFormatOptions): string => dateIn(locale, at, options);
  const isGregorian = new Intl.DateTimeFormat(locale).resolvedOptions().calendar === 'gregory';
  const unit = (value: number, name: string): string =>
    number(value, { style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: 0 });
  return {
    number,
    compact: (value) => number(value, { notation: 'compact', maximumFractionDigits: 1 }),
    percent: (ratio, options = { maximumFractionDigits: 1 }) =>
      number(ratio, { style: 'percent', ...options }),
    seconds: (value) => {
      const whole = Math.round(value);
      const parts = [
        { count: Math.floor(whole / 3_600), name: 'hour' },
        { count: Math.floor((whole % 3_600) / 60), name: 'minute' },
        { count: whole % 60, name: 'second' },
      ];
      const first = parts.findIndex(({ count }) => count > 0);
      const shown = first < 0 ? parts.slice(2) : parts.slice(first, first + 2);
      return shown
        .filter(({ count }, i) => i === 0 || count > 0)
        .map(({ count, name }) => unit(count, name))
        .join(' ');
    },
    date: (at, timeZone = DEFAULT_ZONE) => dateWith(at, { ...DAY, timeZone }),
    gregorian: (at, timeZone = DEFAULT_ZONE) =>
      isGregorian ? '' : dateWith(at, { ...DAY, calendar: 'gregory', timeZone }),
    dateTime: (at, timeZone = DEFAULT_ZONE) => dateWith(at, { ...MINUTE, timeZone }),
    relative: (at, now) => {
      const seconds = (new Date(at).getTime() - now) / 1000;
      const [name, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
      return once('relative', () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })).format(
        Math.trunc(seconds / size),
        name,
      );
    },
    dateWith,
    isGregorian,
    firstWeekday: firstWeekdayOf(locale),
    country: (code) => {
      try {
        return once('country', () => new Intl.DisplayNames([locale], { type: 'region' })).of(code) ?? code;
      } catch {
        return code;
      }
    },
  };
}
