import { byName } from '../domain/by-name.ts';
import { currentCaller, currentQuestion } from '../domain/caller.ts';
import { isNoRoom } from '../domain/no-room.ts';
import type { Question } from '../domain/question.ts';
import { type Client, type Connections, LANE_NAMES, type Lane } from './connect.ts';
import { Deadline } from './deadline.ts';
import { storeError } from './errors.ts';
import { Gate, type Patience, READERS_PATIENCE, type Visitor } from './gate.ts';
import { type Sent, type StatementStats, send } from './sent.ts';

/** The options that the client needs besides the statement. */
export interface Sending {
  readonly query_id: string;
  readonly http_headers?: Record<string, string>;
  readonly abort_signal?: AbortSignal;
}

/** A statement to run, without its text. */
export interface Statement {
  readonly lane: Lane;
  readonly name: string;
  /** The statement's time limit; less if its question has less time left. */
  readonly seconds: number;
  /** Its query_id in the store. */
  readonly id: string;
  /** True for a SELECT, which ends with its caller. Writes run to their end. */
  readonly isKilled: boolean;
}

/** The longest wait for a place. A question's statement waits for as long as the question has time. */
const PATIENCE: Readonly<Record<Lane, Patience>> = {
  read: READERS_PATIENCE,
  lookup: READERS_PATIENCE,
  health: { maxWaitMs: 2_000 },
  write: { maxWaitMs: 10_000 },
  seal: { maxWaitMs: 30_000 },
};
const MAX_WAITING = 1_024;
/** A service writes at least once a minute. */
const FULL_MS = 60_000;

/** Runs statements, each in a place of its lane, until they end or their time is over. */
export class Runner {
  readonly #connections: Connections;
  readonly #gates: Readonly<Record<Lane, Gate>>;
  readonly #onStatement: ((stats: StatementStats) => void) | undefined;
  #foundNoRoomAt = Number.NEGATIVE_INFINITY;

  constructor(connections: Connections, onStatement: ((stats: StatementStats) => void) | undefined) {
    this.#connections = connections;
    this.#gates = byName(
      LANE_NAMES,
      (lane) => new Gate({ places: connections.places[lane], maxWaiting: MAX_WAITING, ...PATIENCE[lane] }),
    );
    this.#onStatement = onStatement;
  }

  /** The number of statements that wait for a place, by lane. */
  get waiting(): Readonly<Record<Lane, number>> {
    return byName(LANE_NAMES, (lane) => this.#gates[lane].waiting);
  }

  /** True if a statement found no room on the disk within the last minute. */
  get isFull(): boolean {
    return performance.now() - this.#foundNoRoomAt < FULL_MS;
  }

  /**
   * Calls `work` with a client that no other statement uses, and with the statement's time limit in seconds. Throws
   * AppError (503) if there is no place or no time left. A failed statement throws the error that `storeError` returns.
   */
  async run<T>(
    statement: Statement,
    work: (client: Client, sending: Sending, seconds: number) => Promise<T>,
  ): Promise<T> {
    const { lane, seconds: most, id, isKilled } = statement;
    const question = isRead(lane) ? currentQuestion() : undefined;
    const gate = this.#gates[lane];
    const visitor = visitorOn(lane, question);
    const sent = send(statement, this.#onStatement);
    const place = await gate.enter(visitor).catch((error: unknown) => {
      sent.end('refused', error);
      throw error;
    });
    sent.start();
    // Never 0: that means no limit.
    const seconds =
      question === undefined ? most : Math.min(most, Math.max(1, Math.ceil(question.msLeft)) / 1000);
    const deadline = this.#connections.cancels ? new Deadline(seconds, visitor.signal) : null;
    const run = (): Promise<T> => {
      question?.throwIfLate();
      const sending = this.#sendingOf(id, sent, deadline);
      return work(this.#connections.at(lane, place), sending, seconds);
    };
    try {
      const result = await (question === undefined ? run() : question.statement(run));
      // After its end a question may have read facts that were deleted meanwhile.
      question?.throwIfLate();
      sent.end('ok');
      return result;
    } catch (error) {
      if (deadline?.signal.aborted && isKilled) this.#connections.kill(id);
      sent.end('failed', error);
      if (isNoRoom(error)) this.#foundNoRoomAt = performance.now();
      await this.#connections.clear(lane, place);
      throw storeError(error, this.#connections.kind);
    } finally {
      deadline?.end();
      gate.leave(place);
    }
  }

  #sendingOf(id: string, { headers }: Sent, deadline: Deadline | null): Sending {
    return {
      query_id: id,
      ...(this.#connections.kind === 'server' ? { http_headers: { ...headers } } : {}),
      ...(deadline === null ? {} : { abort_signal: deadline.signal }),
    };
  }
}

/** Reads end with their question. Writes always run to their end. */
const isRead = (lane: Lane): boolean => lane === 'read' || lane === 'lookup';

/** Callers share look-ups, so only a reader's own statement ends with its caller. */
function visitorOn(lane: Lane, question: Question | undefined): Visitor {
  const caller = isRead(lane) ? currentCaller() : undefined;
  const signal = question?.signal ?? (lane === 'read' ? caller?.signal : undefined);
  return {
    ...(caller === undefined ? {} : { key: caller.key }),
    ...(signal === undefined ? {} : { signal }),
    isLetIn: question !== undefined,
  };
}
