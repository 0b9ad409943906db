import { LRUCache } from 'lru-cache';
import type { Basis } from '../../analytics/scopes.ts';
import { Gate, READERS_PATIENCE } from '../../clickhouse/gate.ts';
import { asQuestion, currentCaller, forOthersToo, Shared } from '../../domain/caller.ts';
import type { AccountId, AppId } from '../../domain/ids.ts';
import { toIso } from '../../domain/time.ts';
import type { ReadBegun } from '../../facts/begun.ts';
import type { ReadSnapshot } from '../../facts/snapshots.ts';
import type { Snapshot } from '../../facts/watermarks.ts';
import type { Bodies, Body } from '../forms/bodies.ts';
import { writeJson } from '../forms/json-lines.ts';
import { codeVersion } from './code-version.ts';
import { digest, digestOf } from './etag.ts';

const MAX_WAITING = 256;
/** Answers that are computed anew before somebody has to wait for it. */
const RENEWALS_AT_ONCE = 2;
/** At what share of the age that a caller takes: spread, so that answers of one moment are not renewed at one moment. */
const RENEWED_FROM = 0.5;
const RENEWED_UNTIL = 0.9;

/** A question as one account asks it. */
export interface Asked {
  readonly account: AccountId;
  readonly app: AppId;
  readonly operationId: string;
  /** As parsed: two spellings of one instant are one question. Never written to. */
  readonly query: object;
  readonly basis: Basis;
  compute(): Promise<unknown>;
}

/** What an answer holds. */
export interface Held {
  /** The same tag means the same bytes. */
  readonly tag: string;
  /** When the newest event of the app was stored. */
  readonly asOf: string | null;
  /** For how many seconds it may have been outdated; null for a caller who takes no such answer. */
  readonly age: number | null;
}

/** An answer whose version is known before it is computed. */
export interface Versioned extends Held {
  /** Computes, or takes what is kept. */
  result(): Promise<Computed>;
}

/** Another tag than that of the question means that it holds something else. */
export interface Computed extends Held {
  readonly json: Body;
}

export interface AnswersOptions {
  /**
   * Questions that are computed at once, each of several statements. Who is let in is answered: refusing half of a question
   * would waste the other half.
   */
  readonly questionsAtOnce: number;
  /** What all kept answers may take of the process's memory. */
  readonly answerCacheBytes: number;
  readonly bodies: Bodies;
}

/** A question by its name: one account's, with what the clock says of it, whatever the data. */
class Question {
  readonly asked: string;
  readonly name: string;
  #version = '';
  #tag = '';

  constructor(code: string, asked: string, query: object) {
    this.asked = asked;
    this.name = digest(JSON.stringify([code, query, asked]));
  }

  /** Of its answer at a version of the data. Mostly the last one is asked for again. */
  tagAt({ version: [events, sessions], rebuilt }: Pick<Snapshot, 'version' | 'rebuilt'>): string {
    const version = `${events} ${sessions} ${rebuilt}`;
    if (version !== this.#version) {
      this.#version = version;
      this.#tag = digest(`${this.name} ${version}`);
    }
    return this.#tag;
  }
}

/** What a question is answered from. */
interface State {
  readonly question: string;
  readonly version: Snapshot['version'];
  readonly tag: string;
  readonly asOf: string | null;
  /** An instant of this process before the version was read: what was acknowledged by then is counted. */
  readonly at: number;
}

interface Kept extends Pick<State, 'tag' | 'asOf' | 'at'> {
  readonly json: Body;
  /** The share of a caller's limit at which it is renewed. */
  readonly renewedAt: number;
}

/**
 * Answers kept by the data's own version: known before any heavy question is asked, and another as soon as an event that
 * matters is stored. Of each question the newest answer is kept. Identical questions at one moment are computed once: whoever read
 * the same version asks for the same acknowledged events. Nothing is shared between accounts.
 */
export class Answers {
  readonly #snapshot: ReadSnapshot;
  readonly #begun: ReadBegun;
  readonly #code = codeVersion();
  readonly #kept: LRUCache<string, Kept>;
  readonly #gate: Gate;
  readonly #bodies: Bodies;
  /** By question: the computation that began last. */
  readonly #running = new Map<string, { readonly tag: string; readonly computing: Shared<Kept> }>();
  readonly #renewing = new Set<string>();
  /** By query: pollers ask with the same one. */
  readonly #questions = new WeakMap<object, Question>();

  constructor(
    snapshot: ReadSnapshot,
    begun: ReadBegun,
    { questionsAtOnce: atOnce, answerCacheBytes: maxSize, bodies }: AnswersOptions,
  ) {
    this.#snapshot = snapshot;
    this.#bodies = bodies;
    this.#begun = begun;
    this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ json }) => json.memoryBytes + 1_000 });
    this.#gate = new Gate({ places: atOnce, maxWaiting: MAX_WAITING, ...READERS_PATIENCE });
  }

  /** `maxStaleMs`: a kept answer that was right so long ago will do. Null: only what is right now. */
  async ask(asked: Asked, maxStaleMs: number | null): Promise<Versioned> {
    const question = this.#questionOf(asked);
    const recent = this.#recent(question.name, maxStaleMs);
    if (recent !== null) {
      this.#renewInTime(asked, question.name, maxStaleMs ?? 0);
      return { ...recent, result: async () => recent };
    }
    const at = performance.now();
    const snapshot = await this.#snapshot(asked.app, asked.basis.scope);
    const { asOf: newest, version } = snapshot;
    const asOf = newest === null ? null : toIso(newest);
    const state = { question: question.name, version, tag: question.tagAt(snapshot), asOf, at };
    if (maxStaleMs !== null) this.#confirm(state);
    return {
      tag: state.tag,
      asOf,
      age: ageOf(state, maxStaleMs),
      result: () => this.#result(asked, state, maxStaleMs),
    };
  }

  #questionOf({ account, operationId, query, basis }: Asked): Question {
    const asked = `${account} ${operationId} ${basis.window}`;
    const last = this.#questions.get(query);
    if (last?.asked === asked) return last;
    const question = new Question(this.#code, asked, query);
    this.#questions.set(query, question);
    return question;
  }

  /** The kept answer, where it was right not longer ago than that. */
  #recent(question: string, maxStaleMs: number | null): Computed | null {
    const kept = maxStaleMs === null ? undefined : this.#kept.get(question);
    if (kept === undefined || kept.json.isGone || performance.now() - kept.at > (maxStaleMs ?? 0))
      return null;
    return computedOf(kept, maxStaleMs);
  }

  /** In the background. What fails or finds no place is tried again by the next poll. */
  #renewInTime(asked: Asked, question: string, maxStaleMs: number): void {
    const kept = this.#kept.peek(question);
    if (kept === undefined || performance.now() - kept.at < kept.renewedAt * maxStaleMs) return;
    if (this.#renewing.size >= RENEWALS_AT_ONCE || this.#renewing.has(question)) return;
    this.#renewing.add(question);
    const renewed = forOthersToo(async () => (await this.ask(asked, 0)).result());
    void renewed.catch(() => undefined).finally(() => this.#renewing.delete(question));
  }

  /** The kept answer is right in this state too. */
  #confirm({ question, tag, asOf, at }: State): void {
    const kept = this.#kept.peek(question);
    if (kept?.tag === tag && at > kept.at) {
      this.#kept.set(question, { ...kept, asOf, at, renewedAt: renewalShare() });
    }
  }

  async #result(asked: Asked, state: State, maxStaleMs: number | null): Promise<Computed> {
    const kept = this.#kept.get(state.question);
    if (kept?.tag === state.tag && !kept.json.isGone)
      return computedOf({ ...state, json: kept.json }, maxStaleMs);
    const recent = await this.#ofAnotherState(state, maxStaleMs);
    if (recent !== null) return recent;
    const { tag, json } = await this.#computing(asked, state).join();
    return computedOf({ ...state, tag, json }, maxStaleMs);
  }

  /** Many wait for one: what is being computed for an earlier state may be recent enough, if it is kept. */
  async #ofAnotherState({ question, tag }: State, maxStaleMs: number | null): Promise<Computed | null> {
    const running = this.#running.get(question);
    if (maxStaleMs === null || running === undefined || running.tag === tag) return null;
    if (running.computing.isAbandoned) return null;
    // Where it failed, the next one may not.
    await running.computing.join().catch(() => undefined);
    return this.#recent(question, maxStaleMs);
  }

  #computing(asked: Asked, state: State): Shared<Kept> {
    const running = this.#running.get(state.question);
    if (running?.tag === state.tag && !running.computing.isAbandoned) return running.computing;
    const computing = new Shared(() =>
      this.#compute(asked, state).finally(() => {
        if (this.#running.get(state.question)?.computing === computing) this.#running.delete(state.question);
      }),
    );
    this.#running.set(state.question, { tag: state.tag, computing });
    return computing;
  }

  /** From here on its time runs. */
  #computed({ compute }: Asked): Promise<unknown> {
    return asQuestion(async (question) => {
      const place = await this.#gate.enter(currentCaller());
      try {
        return await compute();
      } finally {
        // What an embedded engine still computes for it takes the place of another.
        void question.settled().then(() => this.#gate.leave(place));
      }
    });
  }

  /**
   * What was being stored meanwhile may be in some of its figures and not in others: such an answer is tagged by its bytes and not
   * kept.
   */
  async #compute(asked: Asked, state: State): Promise<Kept> {
    const json = await this.#bodies.collect(writeJson(await this.#computed(asked)));
    const begun = await this.#begun(asked.app, asked.basis.scope);
    const { question, tag, version, asOf, at } = state;
    if (begun === null || begun[0] !== version[0] || begun[1] !== version[1]) {
      return { tag: await digestOf(json), json, asOf, at, renewedAt: 1 };
    }
    const kept = { tag, json, asOf, at, renewedAt: renewalShare() };
    if ((this.#kept.peek(question)?.at ?? 0) <= at) this.#kept.set(question, kept);
    return kept;
  }
}

const renewalShare = (): number => RENEWED_FROM + Math.random() * (RENEWED_UNTIL - RENEWED_FROM);

const ageOf = ({ at }: Pick<State, 'at'>, maxStaleMs: number | null): number | null =>
  maxStaleMs === null ? null : Math.floor((performance.now() - at) / 1_000);

const computedOf = (kept: Omit<Kept, 'renewedAt'>, maxStaleMs: number | null): Computed => ({
  tag: kept.tag,
  json: kept.json,
  asOf: kept.asOf,
  age: ageOf(kept, maxStaleMs),
});
