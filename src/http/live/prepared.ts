import type { Versioned } from '../answer/answers.ts';
import { digest } from '../answer/etag.ts';
import type { Computed } from '../answer/kept.ts';
import type { Body } from '../forms/bodies.ts';
import { dataLines, dataOf } from './wire.ts';

/** An answer as streams send it. */
export interface Prepared {
  readonly tag: string;
  /** Equal for equal bytes; null for an answer in a file. */
  readonly digest: string | null;
  data(): AsyncIterable<Buffer> | readonly Buffer[];
}

/** The answers of a question, for its streams. */
export interface Source {
  readonly latest: Versioned;
  prepare(versioned: Versioned): Promise<Prepared>;
}

export function preparedOf({ tag, json }: Pick<Computed, 'tag' | 'json'>): Prepared {
  return json.bytes === null ? inPieces(tag, json) : inOneBuffer(tag, json.bytes);
}

const inPieces = (tag: string, json: Body): Prepared => ({ tag, digest: null, data: () => dataLines(json) });

function inOneBuffer(tag: string, bytes: Buffer): Prepared {
  const data = dataOf(bytes);
  return { tag, digest: digest(bytes), data: () => [data] };
}
