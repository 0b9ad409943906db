import { LRUCache } from 'lru-cache';
import { lowerAscii } from '../../domain/fold.ts';
import { type WriteForm, writeCsv, writeNdjson } from './rows.ts';

/** Loads the form's large library when a caller first asks for such a form: the service starts without it. */
const columnar = (name: 'writeArrow' | 'writeParquet'): WriteForm =>
  async function* (columns, list) {
    const forms = await import('./columnar.ts');
    yield* forms[name](columns, list);
  };

/** A format of a list. */
export interface Form {
  /** The media type, as in Accept. */
  readonly type: string;
  readonly contentType: string;
  /** The end of this form's entity tags. */
  readonly mark: string;
  /** Null for JSON, the form in which every answer is computed. */
  readonly write: WriteForm | null;
  /** True if gzip or brotli would make it smaller. */
  readonly compressible: boolean;
}

export const JSON_FORM: Form = {
  type: 'application/json',
  contentType: 'application/json; charset=utf-8',
  mark: '',
  write: null,
  compressible: true,
};

/** In the order of preference if Accept weighs several equally. */
export const LIST_FORMS: readonly Form[] = [
  JSON_FORM,
  {
    type: 'text/csv',
    contentType: 'text/csv; charset=utf-8; header=present',
    mark: '-csv',
    write: writeCsv,
    compressible: true,
  },
  {
    type: 'application/x-ndjson',
    contentType: 'application/x-ndjson; charset=utf-8',
    mark: '-ndjson',
    write: writeNdjson,
    compressible: true,
  },
  {
    type: 'application/vnd.apache.parquet',
    contentType: 'application/vnd.apache.parquet',
    mark: '-parquet',
    write: columnar('writeParquet'),
    // Its columns are compressed already.
    compressible: false,
  },
  {
    type: 'application/vnd.apache.arrow.stream',
    contentType: 'application/vnd.apache.arrow.stream',
    mark: '-arrow',
    write: columnar('writeArrow'),
    compressible: true,
  },
];

/**
 * Returns the offered form that Accept weighs highest, and JSON if it accepts none of them. RFC 9110 (section
 * 12.5.1) leaves that to the server, and the service has no error for 406.
 */
export function chooseForm(accept: string | undefined, offered: readonly Form[]): Form {
  if (accept === undefined || offered.length < 2) return JSON_FORM;
  const ranges = weighted(accept);
  return best(offered, ({ type }) => typeWeight(ranges, type)) ?? JSON_FORM;
}

/** Returns the first item with the greatest weight above 0. */
export function best<T>(offered: readonly T[], weightOf: (item: T) => number): T | undefined {
  let chosen: T | undefined;
  let greatest = 0;
  for (const item of offered) {
    const weight = weightOf(item);
    if (weight > greatest) {
      chosen = item;
      greatest = weight;
    }
  }
  return chosen;
}

/** Returns the weight of the most specific range that covers the media type. */
export function typeWeight(ranges: ReadonlyMap<string, number>, type: string): number {
  const group = `${type.slice(0, type.indexOf('/'))}/*`;
  return ranges.get(type) ?? ranges.get(group) ?? ranges.get('*/*') ?? 0;
}

/** A cache of parsed headers: callers send only a few different ones. */
const known = new LRUCache<string, ReadonlyMap<string, number>>({ max: 500 });
const KNOWN_LENGTH = 300;

/**
 * Returns the names in a header with their weights, in lower case. An invalid weight is 0. Other parameters
 * are ignored.
 */
export function weighted(header: string): ReadonlyMap<string, number> {
  const found = known.get(header);
  if (found !== undefined) return found;
  const weights = weigh(header);
  if (header.length <= KNOWN_LENGTH) known.set(header, weights);
  return weights;
}

function weigh(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => lowerAscii(part.trim()));
    if (name === '') continue;
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : weightIn(q.slice(q.indexOf('=') + 1).trim());
    weights.set(name, Math.max(weight, weights.get(name) ?? 0));
  }
  return weights;
}

const weightIn = (text: string): number => (/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0);
