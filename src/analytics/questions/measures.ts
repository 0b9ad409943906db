import { z } from 'zod';
import type { KeySums } from './key-hours.ts';
import { byText, descending } from './order.ts';
import type { Ranking } from './ranked.ts';

/** The rows of an answer about keys: a key's kind and name, and its sums. */
export interface Measures<Row extends KeyRow> {
  readonly row: z.ZodType<Row>;
  /**
   * The answer's columns, each with the column that it sums: `events`, `sessions`, `engaged_ms` or
   * `engagements`. The answer is sorted by the first.
   */
  readonly columns: Readonly<Record<Exclude<keyof Row, keyof KeyRow>, string>>;
  /** Whether the answer lists the row; `listed` is the same as an SQL condition. */
  isListed(row: Row): boolean;
  readonly listed: string;
  readonly ranking: Ranking<Row>;
  rowOf(sums: KeySums): Row;
}

export interface KeyRow {
  readonly kind: string;
  readonly name: string;
}

const KEY = { kind: z.string(), name: z.string() };
/** Each kind is a list of its own. */
const keyOf = ({ name }: KeyRow): string => name;
const byName = (a: KeyRow, b: KeyRow): number => byText(a.name, b.name);

const VIEWS_ROW = z.object({ ...KEY, events: z.number(), sessions: z.number() });
type Views = z.infer<typeof VIEWS_ROW>;

/** The events of a key and its distinct sessions: views of a page, clicks, errors, custom events. */
export const VIEWS: Measures<Views> = {
  row: VIEWS_ROW,
  columns: { events: 'events', sessions: 'sessions' },
  isListed: ({ events }) => events > 0,
  listed: 'events > 0',
  ranking: {
    keyOf,
    add: (a, b) => ({
      kind: a.kind,
      name: a.name,
      events: a.events + b.events,
      sessions: a.sessions + b.sessions,
    }),
    order: (a, b) => descending(a.events, b.events) || byName(a, b),
  },
  rowOf: ({ kind, key, events, sessions }) => ({ kind, name: nameOf(key), events, sessions }),
};

const TIME_ROW = z.object({ ...KEY, engagedMs: z.number(), events: z.number(), engagements: z.number() });

/** The engagement with a page. */
export const TIME: Measures<z.infer<typeof TIME_ROW>> = {
  row: TIME_ROW,
  columns: { engagedMs: 'engaged_ms', events: 'events', engagements: 'engagements' },
  // An engagement may have lasted 0 ms.
  isListed: ({ engagements }) => engagements > 0,
  listed: 'engagements > 0',
  ranking: {
    keyOf,
    add: (a, b) => ({
      kind: a.kind,
      name: a.name,
      engagedMs: a.engagedMs + b.engagedMs,
      events: a.events + b.events,
      engagements: a.engagements + b.engagements,
    }),
    order: (a, b) => descending(a.engagedMs, b.engagedMs) || byName(a, b),
  },
  rowOf: ({ kind, key, events, engaged_ms, engagements }) => ({
    kind,
    name: nameOf(key),
    engagedMs: engaged_ms,
    events,
    engagements,
  }),
};

const COUNTS_ROW = VIEWS_ROW.extend({ engagedMs: z.number() });
export type Counts = z.infer<typeof COUNTS_ROW>;

/** The overview's figures of a key and of its kind. */
export const COUNTS: Measures<Counts> = {
  row: COUNTS_ROW,
  columns: { ...VIEWS.columns, engagedMs: 'engaged_ms' },
  isListed: VIEWS.isListed,
  listed: VIEWS.listed,
  ranking: {
    keyOf,
    add: (a, b) => ({
      kind: a.kind,
      name: a.name,
      events: a.events + b.events,
      sessions: a.sessions + b.sessions,
      engagedMs: a.engagedMs + b.engagedMs,
    }),
    order: VIEWS.ranking.order,
  },
  rowOf: ({ kind, key, events, sessions, engaged_ms }) => ({
    kind,
    name: nameOf(key),
    events,
    sessions,
    engagedMs: engaged_ms,
  }),
};

/** An absent label is named in answers. Pages always have a path. */
const nameOf = (key: string): string => (key === '' ? '(none)' : key);
