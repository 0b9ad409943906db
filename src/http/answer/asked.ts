import type { Basis } from '../../analytics/scopes.ts';
import type { AccountId, AppId } from '../../domain/ids.ts';
import type { Snapshot } from '../../snapshots/read.ts';
import { codeVersion } from './code-version.ts';
import { digest } from './etag.ts';

/** A question as one account asks it. */
export interface Asked {
  readonly account: AccountId;
  readonly app: AppId;
  readonly operationId: string;
  /** The parsed query: two spellings of one instant are one question. It is never changed. */
  readonly query: object;
  readonly basis: Basis;
  /** Computes the answer from the facts of the snapshot. */
  compute(snapshot: Snapshot): Promise<unknown>;
}

/**
 * One account's question, named by its query and its window. The name does not depend on the data.
 */
export class NamedQuestion {
  readonly asked: string;
  readonly name: string;
  #version = '';
  #tag = '';

  constructor(code: string, asked: string, query: object) {
    this.asked = asked;
    this.name = digest(JSON.stringify([code, query, asked]));
  }

  /** Returns the tag of the answer at a version of the data. Mostly the last one is asked for again. */
  tagAt({ version: [events, sessions], rebuilt }: Pick<Snapshot, 'version' | 'rebuilt'>): string {
    const version = `${events} ${sessions} ${rebuilt}`;
    if (version !== this.#version) {
      this.#version = version;
      this.#tag = digest(`${this.name} ${version}`);
    }
    return this.#tag;
  }
}

/** Names questions. */
export function createNames(): (asked: Asked) => NamedQuestion {
  const code = codeVersion();
  /** By query: pollers send the same query, and parsed queries are cached. */
  const known = new WeakMap<object, NamedQuestion>();
  return ({ account, operationId, query, basis }) => {
    const asked = `${account} ${operationId} ${basis.window}`;
    const last = known.get(query);
    if (last?.asked === asked) return last;
    const question = new NamedQuestion(code, asked, query);
    known.set(query, question);
    return question;
  };
}
