import type { SingleSession } from './singles.ts';

/** A visitor under a key; one object for each. */
export interface Visitor {
  /** '' if visitors are not counted. */
  readonly name: string;
  readonly key: string;
  /** The start of the last sealed session: -1 if there is none, null if it was not looked up. */
  last: number | null;
  /** While links are counted: the start of the session before. A map would take several times as long. */
  before: number;
}

/** A session that the facts do not hold as it is now. */
export interface OpenSession extends Pick<SingleSession, 'sign' | 'startedAt' | 'values'> {
  /** The visitor, under each key of the session. */
  readonly visitors: readonly Visitor[];
}

/** The open sessions, for one way to count them. */
export interface Open {
  /** In order of their start. */
  readonly unsealed: readonly OpenSession[];
  readonly late: readonly OpenSession[];
}

/** The result of a look-up of visitors. */
export interface LookedUp {
  /** Of all that were sought. */
  readonly names: ReadonlySet<string>;
  /** The start of the last sealed session, by name and key as one text, of those that have one. */
  readonly last: ReadonlyMap<string, number>;
}

/** The visitors by name and key. */
export class Visitors {
  readonly #known = new Map<string, Visitor>();
  /** Those among them that are perhaps not looked up. */
  readonly #unknown = new Set<Visitor>();

  /** Notes the result of a look-up, for the visitors of all sessions that were read so far. */
  learn({ names, last }: LookedUp): void {
    for (const visitor of this.#unknown) {
      if (names.has(visitor.name)) visitor.last ??= last.get(visitor.name + visitor.key) ?? -1;
      if (visitor.last !== null) this.#unknown.delete(visitor);
    }
  }

  /** Replaces the texts of a session by visitors. */
  of({ sign, startedAt, values, visitor: name, keys }: SingleSession): OpenSession {
    return { sign, startedAt, values, visitors: keys.map((key) => this.#of(name, key)) };
  }

  #of(name: string, key: string): Visitor {
    const text = name + key;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const visitor = { name, key, last: null, before: -1 };
    this.#known.set(text, visitor);
    this.#unknown.add(visitor);
    return visitor;
  }
}
