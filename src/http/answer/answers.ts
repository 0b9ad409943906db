import { LRUCache } from 'lru-cache';
import type { Basis } from '../../analytics/scopes.ts';
import { Gate, READERS_PATIENCE } from '../../clickhouse/gate.ts';
import { asQuestion, currentCaller, forOthersToo, Shared } from '../../domain/caller.ts';
import type { AccountId, AppId } from '../../domain/ids.ts';
import { toIso } from '../../domain/time.ts';
import { traced } from '../../domain/work.ts';
import type { ReadBegun } from '../../snapshots/begun.ts';
import type { Snapshot } from '../../snapshots/read.ts';
import type { ReadSnapshot } from '../../snapshots/snapshots.ts';
import { untilSteady } from '../../snapshots/steady.ts';
import type { Bodies, Body } from '../forms/bodies.ts';
import { writeJson } from '../forms/json-lines.ts';
import { codeVersion } from './code-version.ts';
import { digest, digestOf } from './etag.ts';

const MAX_WAITING = 256;
/**
 * For each so many questions that may be computed at once, one answer is renewed in the background: two on the embedded
 * store. One alone does not keep up with many pollers while events come in: answers become too old, and callers wait.
 */
const QUESTIONS_PER_RENEWAL = 3;
/**
 * The share of the caller's max-stale age at which an answer is renewed. It is random, so that answers
 * computed together are not renewed together.
 */
const RENEWED_FROM = 0.5;
const RENEWED_UNTIL = 0.9;

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

/** The data of an answer that both 200 and 304 need. */
export interface Held {
  /** The same tag means the same bytes. */
  readonly tag: string;
  /** The time at which the app's newest event was stored. */
  readonly asOf: string | null;
  /** For how many seconds the answer may have been outdated; null if the caller takes no outdated answer. */
  readonly age: number | null;
}

/** An answer whose version is known before it is computed. */
export interface Versioned extends Held {
  /** Computes the answer, or takes it from the cache. */
  result(): Promise<Computed>;
}

/** A computed answer. It differs from the question's version if its tag does. */
export interface Computed extends Held {
  readonly json: Body;
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

/**
 * One account's question, named by its query and its window. The name does not depend on the data.
 */
class Question {
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

/** The state of the data from which a question is answered. */
interface State {
  readonly snapshot: Snapshot;
  readonly question: Question;
  readonly tag: string;
  readonly asOf: string | null;
  /** An instant of this process before the version was read. Events acknowledged by then are counted. */
  readonly at: number;
}

interface Kept extends Pick<State, 'tag' | 'asOf' | 'at'> {
  readonly app: AppId;
  readonly json: Body;
  /** The share of a caller's limit at which the answer is renewed. */
  readonly renewedAt: number;
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
  readonly #code = codeVersion();
  readonly #kept: LRUCache<string, Kept>;
  readonly #gate: Gate;
  readonly #bodies: Bodies;
  readonly #onAnswer: (source: AnswerSource) => void;
  /** The computation that began last, by question. */
  readonly #running = new Map<string, { readonly tag: string; readonly computing: Shared<Kept> }>();
  readonly #renewing = new Set<string>();
  readonly #renewalsAtOnce: number;
  /** Questions by query: pollers send the same query. */
  readonly #questions = new WeakMap<object, Question>();

  constructor(
    snapshot: ReadSnapshot,
    begun: ReadBegun,
    {
      questionsAtOnce: atOnce,
      answerCacheBytes: maxSize,
      bodies,
      onAnswer = () => undefined,
    }: AnswersOptions,
  ) {
    this.#onAnswer = onAnswer;
    this.#snapshot = snapshot;
    this.#bodies = bodies;
    this.#begun = begun;
    this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ json }) => json.memoryBytes + 1_000 });
    this.#renewalsAtOnce = Math.max(1, Math.floor(atOnce / QUESTIONS_PER_RENEWAL));
    this.#gate = new Gate({ places: atOnce, maxWaiting: MAX_WAITING, ...READERS_PATIENCE });
  }

  /**
   * Answers a question. A cached answer that was right at most `maxStaleMs` ago is enough. Null: only the
   * answer that is right now.
   */
  async ask(asked: Asked, maxStaleMs: number | null): Promise<Versioned> {
    const question = this.#questionOf(asked);
    const recent = this.#recent(question.name, maxStaleMs);
    if (recent !== null) {
      this.#renewInTime(asked, question.name, maxStaleMs ?? 0);
      this.#onAnswer('stale');
      return { ...recent, result: async () => recent };
    }
    const at = performance.now();
    const snapshot = await this.#snapshot(asked.app, asked.basis.scope);
    const state = { question, snapshot, tag: question.tagAt(snapshot), asOf: asOfOf(snapshot), at };
    if (maxStaleMs !== null) this.#confirm(state);
    return {
      tag: state.tag,
      asOf: state.asOf,
      age: ageOf(state, maxStaleMs),
      result: () => this.#result(asked, state, maxStaleMs),
    };
  }

  /** Drops the answers about an app. */
  forget(app: AppId): void {
    for (const [question, kept] of this.#kept.entries()) {
      if (kept.app !== app) continue;
      this.#bodies.drop(kept.json);
      this.#kept.delete(question);
    }
  }

  #questionOf({ account, operationId, query, basis }: Asked): Question {
    const asked = `${account} ${operationId} ${basis.window}`;
    const last = this.#questions.get(query);
    if (last?.asked === asked) return last;
    const question = new Question(this.#code, asked, query);
    this.#questions.set(query, question);
    return question;
  }

  /** Returns the cached answer if it was right at most `maxStaleMs` ago. */
  #recent(question: string, maxStaleMs: number | null): Computed | null {
    const kept = maxStaleMs === null ? undefined : this.#kept.get(question);
    if (kept === undefined || kept.json.isGone || performance.now() - kept.at > (maxStaleMs ?? 0))
      return null;
    return computedOf(kept, maxStaleMs);
  }

  /**
   * Renews an answer in the background before a caller has to wait for it. If that fails or finds no place,
   * the next poll tries again.
   */
  #renewInTime(asked: Asked, question: string, maxStaleMs: number): void {
    const kept = this.#kept.peek(question);
    if (kept === undefined || performance.now() - kept.at < kept.renewedAt * maxStaleMs) return;
    if (this.#renewing.size >= this.#renewalsAtOnce || this.#renewing.has(question)) return;
    this.#renewing.add(question);
    const renewed = forOthersToo(async () => (await this.ask(asked, 0)).result());
    void renewed.catch(() => undefined).finally(() => this.#renewing.delete(question));
  }

  /** Notes that the cached answer is right in this state too. */
  #confirm({ question, tag, asOf, at }: State): void {
    const kept = this.#kept.peek(question.name);
    if (kept?.tag === tag && at > kept.at) {
      this.#kept.set(question.name, { ...kept, asOf, at, renewedAt: renewalShare() });
    }
  }

  async #result(asked: Asked, state: State, maxStaleMs: number | null): Promise<Computed> {
    const kept = this.#kept.get(state.question.name);
    if (kept?.tag === state.tag && !kept.json.isGone) {
      this.#onAnswer('cached');
      return computedOf({ ...state, json: kept.json }, maxStaleMs);
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
    return this.#recent(question.name, maxStaleMs);
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
    if (of === null) return { app, tag: await digestOf(json), json, asOf, at, renewedAt: 1 };
    const kept = { app, tag: question.tagAt(of), json, asOf: asOfOf(of), at, renewedAt: renewalShare() };
    if ((this.#kept.peek(question.name)?.at ?? 0) <= at) this.#kept.set(question.name, kept);
    return kept;
  }
}

const asOfOf = ({ asOf }: Snapshot): string | null => (asOf === null ? null : toIso(asOf));

const renewalShare = (): number => RENEWED_FROM + Math.random() * (RENEWED_UNTIL - RENEWED_FROM);

const ageOf = ({ at }: Pick<State, 'at'>, maxStaleMs: number | null): number | null =>
  maxStaleMs === null ? null : Math.floor((performance.now() - at) / 1_000);

const computedOf = (kept: Omit<Kept, 'renewedAt' | 'app'>, maxStaleMs: number | null): Computed => ({
  tag: kept.tag,
  json: kept.json,
  asOf: kept.asOf,
  age: ageOf(kept, maxStaleMs),
});
