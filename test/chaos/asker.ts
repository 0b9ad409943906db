import { setTimeout as sleep } from 'node:timers/promises';
import type { AppId } from '../../src/domain/ids.ts';
import { outOfBounds } from '../support/figures.ts';
import { halfHour } from '../support/half-hour.ts';
import type { Book } from './book.ts';
import { differences, type History } from './history.ts';
import type { Question } from './questions.ts';
import type { Process } from './world.ts';

/** A hung process never answers. After this the question is asked elsewhere. */
const PATIENCE_MS = 8_000;
/** Pauses in ms, and the tags of the question after each. */
const AGAIN = [
  [0, 'all'],
  [0, 'none'],
  [3_000, 'all'],
  [0, 'none'],
] as const;
/** As many as headers can hold. */
const MOST_TAGS = 120;

/** The tags that a question carries: all that were ever seen for it, the last one, or none. */
export type Tags = 'all' | 'last' | 'none';

export type Outcome = 'right' | 'wrong' | 'refused' | 'forbidden';

/** The outcome of a question, with a description if it is wrong. */
interface Look {
  readonly outcome: Outcome;
  readonly what: string;
  readonly details: readonly string[];
}

const REFUSED: Look = { outcome: 'refused', what: 'refused', details: [] };

interface Answer {
  readonly status: number;
  readonly tag: string;
  readonly text: string;
}

/**
 * A client that keeps every answer by its tag, sends the known tags with its questions, and compares each
 * answer with the oracle.
 */
export class Asker {
  readonly #history: History;
  readonly #key: string;
  /** The text of each tag, by address. */
  readonly #held = new Map<string, Map<string, string>>();

  constructor(history: History, key: string) {
    this.#history = history;
    this.#key = key;
  }

  /**
   * Asks and compares. Batches acknowledged before the question must be in the answer; batches sent before
   * the answer may be.
   */
  async ask(process: Process, book: Book, question: Question, tags: Tags): Promise<Outcome> {
    const { outcome, what, details } = await this.#look(process, book, question, tags);
    if (outcome !== 'wrong') return outcome;
    const again = details.length === 0 ? [] : await this.#lookAgain(process, book, question);
    this.#history.wrong(what, [...again, ...details]);
    return 'wrong';
  }

  /** Asks again after a wrong answer. The outcomes help to find the cause. */
  async #lookAgain(process: Process, book: Book, question: Question): Promise<string[]> {
    const lines: string[] = [];
    for (const [pause, tags] of AGAIN) {
      await sleep(pause);
      const { outcome } = await this.#look(process, book, question, tags);
      lines.push(`asked again after ${pause} ms with ${tags} tags: ${outcome}`);
    }
    return lines;
  }

  async #look(process: Process, book: Book, question: Question, tags: Tags): Promise<Look> {
    const { counts } = this.#history;
    const base = process.life?.url;
    if (base === undefined) return REFUSED;
    const address = addressOf(book.app, question);
    const before = { least: book.acknowledged, sent: book.sent.length, at: Date.now() };
    counts.questions += 1;
    const answer = await this.#get(base, address, tags);
    const what = `GET ${address} on ${process.name} with ${tags} tags`;
    if ('outcome' in answer) {
      if (answer.outcome === 'refused') counts.refused += 1;
      return { ...answer, what: `${what}: ${answer.what}` };
    }
    if (answer.status === 304) counts.notModified += 1;
    const now = Date.now();
    if (halfHour(before.at) !== halfHour(now)) return { outcome: 'right', what, details: [] };
    const most = book.sent;
    const isStill = before.sent === before.least.length && most.length === before.sent;
    counts[isStill ? 'exact' : 'bounded'] += 1;
    const got: unknown = JSON.parse(answer.text);
    const least = question.expected(book.oracle(before.least, 'acknowledged'), book.app, now);
    const mostOf = ({ expected, ofAll = expected }: Question): unknown =>
      ofAll(book.oracle(most, 'sent'), book.app, now);
    const faults = isStill
      ? differences(got, least)
      : // A cut list does not show the rows beyond its limit.
        question.query['limit'] === undefined
        ? outOfBounds(question.path, got, question.ofAll ? undefined : least, mostOf(question))
        : [];
    return {
      outcome: faults.length === 0 ? 'right' : 'wrong',
      what: `${what}: ${answer.status} ${answer.tag}`,
      details: [
        `${before.least.length} batches were acknowledged, ${most.length} sent`,
        ...faults.slice(0, 20),
        `got ${answer.text}`,
        `expected ${isStill ? '' : 'at least '}${JSON.stringify(least)}`,
      ],
    };
  }

  /** Returns the status of an answer without checking it; 0 without an answer. */
  async status(process: Process, app: AppId, question: Question): Promise<number> {
    try {
      const response = await fetch(`${process.life?.url}/api/v1/${addressOf(app, question)}`, {
        headers: { Authorization: `Bearer ${this.#key}` },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.text();
      return response.status;
    } catch {
      return 0;
    }
  }

  async #get(base: string, address: string, tags: Tags): Promise<Answer | Look> {
    const held = this.#held.get(address) ?? new Map<string, string>();
    this.#held.set(address, held);
    const known = [...held.keys()].slice(tags === 'all' ? -MOST_TAGS : tags === 'last' ? -1 : held.size);
    const headers = {
      Authorization: `Bearer ${this.#key}`,
      ...(known.length === 0 ? {} : { 'If-None-Match': known.join(', ') }),
    };
    let [response, text]: [Response | null, string] = [null, ''];
    try {
      response = await fetch(`${base}/api/v1/${address}`, {
        headers,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      text = await response.text();
    } catch {
      return REFUSED;
    }
    const { status } = response;
    if (status === 503) return REFUSED;
    if (status === 403) return { ...REFUSED, outcome: 'forbidden' };
    const tag = response.headers.get('etag') ?? '';
    const own = held.get(tag);
    const wrong = (what: string, ...details: string[]): Look => ({ outcome: 'wrong', what, details });
    if (status === 304) {
      if (own === undefined || !known.includes(tag)) return wrong(`304 with ${tag}, which was not sent`);
    } else if (status !== 200) return wrong(`status ${status}`, text);
    else if (own !== undefined && own !== text) {
      return wrong(`the tag ${tag} stands for two texts`, `first ${own}`, `now ${text}`);
    }
    const stands = own ?? text;
    // Moves the tag to the end: the order is by last use.
    held.delete(tag);
    held.set(tag, stands);
    return { status, tag, text: stands };
  }
}

const addressOf = (app: AppId, { path, query }: Question): string =>
  `${path}?${new URLSearchParams({ appId: app, ...query })}`;
