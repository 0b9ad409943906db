import { Gate, READERS_PATIENCE } from '../../clickhouse/gate.ts';
import { asQuestion, currentCaller, Shared } from '../../domain/caller.ts';
import type { AppId } from '../../domain/ids.ts';
import { toIso } from '../../domain/time.ts';
import { traced } from '../../domain/work.ts';
import type { ReadBegun } from '../../snapshots/begun.ts';
import type { Snapshot } from '../../snapshots/read.ts';
import type { ReadSnapshot } from '../../snapshots/snapshots.ts';
import { untilSteady } from '../../snapshots/steady.ts';
import type { Bodies } from '../forms/bodies.ts';
import { writeJson } from '../forms/json-lines.ts';
import { type Asked, createNames, type NamedQuestion } from './asked.ts';
import { digestOf } from './etag.ts';
import { ageOf, type Computed, computedOf, type Held, type Kept, KeptAnswers } from './kept.ts';
import { Renewals } from './renewals.ts';

const MAX_WAITING = 256;

/** An answer whose version is known before it is computed. */
export interface Versioned extends Held {
  /** Computes the answer, or takes it from the cache. */
  result(): Promise<Computed>;
}

/** The origin of an answer. `stale`: cached, and the caller accepts its age. `shared`: another caller began it. */
export type AnswerSource = 'computed' | 'shared' | 'cached' | 'stale';

export interface AnswersOptions {
  /** Called for each answer. */
  readonly onAnswer?: (source: AnswerSource) => void;
  /**
   * The most questions that are computed at once; each runs several statements. A question with a place is
   * answered in full: refusing half of its statements would waste the other half.
   */
  readonly questionsAtOnce: number;
  /** The most memory that all cached answers take. */
  readonly answerCacheBytes: number;
  readonly bodies: Bodies;
}

/** The state of the data from which a question is answered. */
interface State {
  readonly snapshot: Snapshot;
  readonly question: NamedQuestion;
  readonly tag: string;
  readonly asOf: string | null;
  /** An instant of this process before the version was read. Events acknowledged by then are counted. */
  readonly at: number;
}

/**
 * A cache of answers, keyed by question; a hit needs the data's current version. The version is known before
 * any heavy statement runs, and changes as soon as an event that matters is stored. Only the newest answer to
 * each question is cached. Identical questions at one moment are computed once: callers who read the same
 * version ask about the same acknowledged events. Accounts share nothing.
 */
export class Answers {
  readonly #snapshot: ReadSnapshot;
  readonly #begun: ReadBegun;
  readonly #nameOf = createNames();
  readonly #kept: KeptAnswers;
  readonly #renewals: Renewals;
  readonly #gate: Gate;
  readonly #bodies: Bodies;
  readonly #onAnswer: (source: AnswerSource) => void;
  /** The computation that began last, by question. */
  readonly #running = new Map<string, { readonly tag: string; readonly computing: Shared<Kept> }>();

  constructor(
    snapshot: ReadSnapshot,
    begun: ReadBegun,
    { questionsAtOnce, answerCacheBytes, bodies, onAnswer = () => undefined }: AnswersOptions,
  ) {
    this.#onAnswer = onAnswer;
    this.#snapshot = snapshot;
    this.#bodies = bodies;
    this.#begun = begun;
    this.#kept = new KeptAnswers(answerCacheBytes, bodies);
    this.#renewals = new Renewals(questionsAtOnce);
    this.#gate = new Gate({ places: questionsAtOnce, maxWaiting: MAX_WAITING, ...READERS_PATIENCE });
  }

  /**
   * Answers a question. A cached answer that was right at most `maxStaleMs` ago is enough. Null: only the
   * answer that is right now.
   */
  async ask(asked: Asked, maxStaleMs: number | null): Promise<Versioned> {
    const question = this.#nameOf(asked);
    const recent = this.#kept.recent(question.name, maxStaleMs);
    if (recent !== null) {
      if (this.#kept.isDue(question.name, maxStaleMs ?? 0)) {
        this.#renewals.begin(question.name, async () => (await this.ask(asked, 0)).result());
      }
      this.#onAnswer('stale');
      return { ...recent, result: async () => recent };
    }
    const at = performance.now();
    const snapshot = await this.#snapshot(asked.app, asked.basis.scope);
    const state = { question, snapshot, tag: question.tagAt(snapshot), asOf: asOfOf(snapshot), at };
    if (maxStaleMs !== null) this.#kept.confirm(question.name, state);
    return {
      tag: state.tag,
      asOf: state.asOf,
      age: ageOf(at, maxStaleMs),
      result: () => this.#result(asked, state, maxStaleMs),
    };
  }

  /** Drops the answers about an app. */
  forget(app: AppId): void {
    this.#kept.forget(app);
  }

  async #result(asked: Asked, state: State, maxStaleMs: number | null): Promise<Computed> {
    const right = this.#kept.right(state.question.name, state.tag);
    if (right !== null) {
      this.#onAnswer('cached');
      return computedOf({ ...state, json: right.json }, maxStaleMs);
    }
    const recent = await this.#ofAnotherState(state, maxStaleMs);
    if (recent !== null) {
      this.#onAnswer('stale');
      return recent;
    }
    const computed = await this.#computing(asked, state).join();
    const { tag, json } = computed;
    const { asOf } = tag === state.tag ? state : computed;
    return computedOf({ tag, json, asOf, at: state.at }, maxStaleMs);
  }

  /**
   * Waits for a computation that began at an earlier state. Its answer may be recent enough for many callers,
   * if it is cached.
   */
  async #ofAnotherState({ question, tag }: State, maxStaleMs: number | null): Promise<Computed | null> {
    const running = this.#running.get(question.name);
    if (maxStaleMs === null || running === undefined || running.tag === tag) return null;
    if (running.computing.isAbandoned) return null;
    // If that one fails, the caller's own may not.
    await running.computing.join().catch(() => undefined);
    return this.#kept.recent(question.name, maxStaleMs);
  }

  #computing(asked: Asked, state: State): Shared<Kept> {
    const { name } = state.question;
    const running = this.#running.get(name);
    if (running?.tag === state.tag && !running.computing.isAbandoned) {
      this.#onAnswer('shared');
      return running.computing;
    }
    this.#onAnswer('computed');
    const computing = new Shared(() =>
      this.#compute(asked, state).finally(() => {
        if (this.#running.get(name)?.computing === computing) this.#running.delete(name);
      }),
    );
    this.#running.set(name, { tag: state.tag, computing });
    return computing;
  }

  /** Computes the answer as a question; its time limit starts here. */
  #computed({ app, operationId, compute }: Asked, snapshot: Snapshot): Promise<unknown> {
    const answer = () =>
      asQuestion(async (question) => {
        const place = await this.#gate.enter(currentCaller());
        try {
          return await compute(snapshot);
        } finally {
          // An embedded engine may still compute for this question, so its place is freed only afterwards.
          void question.settled().then(() => this.#gate.leave(place));
        }
      });
    return traced(`question ${operationId}`, { attributes: { 'analytics.app_id': app } }, answer);
  }

  /**
   * Computes an answer, and caches it unless events were being stored or erased meanwhile. Such events may be in
   * some of its figures and not in others, so that answer is tagged by its bytes and not cached.
   */
  async #compute(asked: Asked, { question, snapshot: first, asOf, at }: State): Promise<Kept> {
    const { app } = asked;
    const { scope, end: to } = asked.basis;
    const steady = () =>
      untilSteady({
        first,
        again: () => this.#snapshot(app, scope),
        to,
        compute: async (snapshot) => {
          const value = await this.#bodies.collect(writeJson(await this.#computed(asked, snapshot)));
          return { value, begun: await this.#begun(app, scope) };
        },
        drop: (value) => this.#bodies.drop(value),
      });
    const { value: json, of } = await asQuestion(steady);
    if (of === null) return { app, tag: await digestOf(json), json, asOf, at };
    const kept = { app, tag: question.tagAt(of), json, asOf: asOfOf(of), at };
    this.#kept.keep(question.name, kept);
    return kept;
  }
}

const asOfOf = ({ asOf }: Snapshot): string | null => (asOf === null ? null : toIso(asOf));
