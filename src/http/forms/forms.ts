import { LRUCache } from 'lru-cache';
import { writeArrow, writeParquet } from './columnar.ts';
import { type WriteForm, writeCsv, writeNdjson } from './rows.ts';

/** A form in which a list can be had. */
export interface Form {
  /** As Accept names it. */
  readonly type: string;
  readonly contentType: string;
  /** What the entity tag of this form ends with. */
  readonly mark: string;
  /** Null for JSON, which is what every answer is at first. */
  readonly write: WriteForm | null;
  /** Whether gzip or brotli would still make it smaller. */
  readonly compressible: boolean;
}

export const JSON_FORM: Form = {
  type: 'application/json',
  contentType: 'application/json; charset=utf-8',
  mark: '',
  write: null,
  compressible: true,
};

/** In the order in which they are preferred where Accept likes several alike. */
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
    write: writeParquet,
    // Its columns are.
    compressible: false,
  },
  {
    type: 'application/vnd.apache.arrow.stream',
    contentType: 'application/vnd.apache.arrow.stream',
    mark: '-arrow',
    write: writeArrow,
    compressible: true,
  },
];

/**
 * What Accept likes best of the forms offered; JSON where it likes none of them (RFC 9110, section 12.5.1, leaves that to
 * the server, and the service's errors know no 406).
 */
export function chooseForm(accept: string | undefined, offered: readonly Form[]): Form {
  if (accept === undefined || offered.length < 2) return JSON_FORM;
  const ranges = weighted(accept);
  return best(offered, (form) => formWeight(ranges, form)) ?? JSON_FORM;
}

/** The first of those with the greatest weight above 0. */
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

/** The most specific range that covers a form decides. */
function formWeight(ranges: ReadonlyMap<string, number>, { type }: Form): number {
  const group = `${type.slice(0, type.indexOf('/'))}/*`;
  return ranges.get(type) ?? ranges.get(group) ?? ranges.get('*/*') ?? 0;
}

/** Callers send a handful of different ones. */
const known = new LRUCache<string, ReadonlyMap<string, number>>({ max: 500 });
const KNOWN_LENGTH = 300;

/** Names with their weights, in lower case; a weight that cannot be read is 0. Other parameters do not matter here. */
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
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name === '') continue;
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : weightIn(q.slice(q.indexOf('=') + 1).trim());
    weights.set(name, Math.max(weight, weights.get(name) ?? 0));
  }
  return weights;
}

const weightIn = (text: string): number => (/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0);
