import { createHash } from 'node:crypto';
import type { Database } from '../clickhouse/database.ts';
import type { AssertHeld, Locks } from '../domain/locks.ts';
import { acceptedFrom } from '../domain/retention.ts';
import type { Clock } from '../domain/time.ts';
import type { SdkApp } from '../metadata/types.ts';
import type { BatchKey } from './batch-key.ts';
import { flushesEnd } from './flushes-end.ts';
import { piecesOf } from './history-pieces.ts';
import { type BatchRows, batchRows, sessionColumns } from './journal-rows.ts';
import { type BatchStore, unavailable } from './once.ts';
import { countStored, eventIdentity, type StoredCounts, storedTimes, storedVisits } from './stored-events.ts';
import { type Rejection, type ValidSession, validateSessions } from './validate.ts';
import { type SentVisitEvent, settleVisits } from './visits.ts';
import { countEvents } from './wire.ts';

export interface HistoryResult {
  /**
   * The indexes of the sessions of which this import stored something. Of visits, one for each session that they became
   * a part of.
   */
  readonly sessions: readonly number[];
  readonly events: number;
  /** The number of events that were skipped because they are stored already. */
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
}

export interface HistoryOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly store: Pick<BatchStore, 'settled'> & {
    storeOnce(batch: BatchKey, make: () => BatchRows, check: AssertHeld): Promise<BatchRows | null>;
  };
  /** Returns the flushes with events of the app that are not settled; none if the process is alone on its store. */
  readonly unsettled: (app: string) => Promise<readonly string[]>;
  readonly locks: Locks;
}

/**
 * Imports history. An import can be interrupted, run again and run with a longer file without counting twice.
 * The stored events themselves are the record of earlier imports. Unlike a batch id (7 days), this record
 * lasts as long as the events, and it does not depend on how the file was cut.
 *
 * Sessions are found by their id and start. The visits of access logs have neither, see `visits.ts`.
 *
 * A file may hold equal events, and all of them count. The n-th of equal events counts as stored if at least
 * n of them are stored. `n` is the event's `occurrence` in the file, or its position among the equal events
 * of the request.
 *
 * Imports into one app take turns, so that no other import stores events between the count and the insert. A turn ends
 * when its batch is settled, also if its sender waited in vain. A process that died has lost its turn, but its flush may
 * still be completed, so the count waits for the flushes that are underway. A process that stopped for a while may have
 * lost its turn without knowing it. So an import claims its batch and then asserts its turn, and the next one takes the turn
 * and then waits for claimed batches: at least one of them sees the other.
 * Sessions of many months are stored in pieces. A piece's batch id is made from all of it that was sent, with the events
 * that are stored already. A process that died may
 * have stored a part of its flush. The repetition has the same id and waits until that flush is whole.
 */
export function createHistory({ db, clock, store, locks, unsettled }: HistoryOptions) {
  return (app: SdkApp, sent: readonly unknown[], kind: SentKind = 'sessions'): Promise<HistoryResult> => {
    const now = clock();
    const from = acceptedFrom(app.retention, now);
    const rules = { now, maxAgeDays: null, acceptedFrom: from, userAgent: '' };
    const { sessions, rejected } = validateSessions(sent, rules);
    const occurrences = new Occurrences(sent);
    const columnsOf = (some: readonly ValidSession[]) =>
      some.map((session) => sessionColumns(session, { app, place: null }));

    /** Finds the events to store, and texts that tell this piece from others. */
    const missingEvents = async (piece: readonly ValidSession[]): Promise<Missing> => {
      if (kind === 'visits') {
        const stored = await storedVisits(db, app, piece);
        const sentEvent = ({ index }: ValidSession, { position }: { position: number }) =>
          eventsOf(sent[index])[position] ?? {};
        const settled = settleVisits(piece, { stored, sentEvent, acceptedFrom: from });
        const columns = columnsOf(settled.sessions);
        return { ...settled, columns, texts: piece.map(({ index }) => JSON.stringify(sent[index])) };
      }
      const there = await countStored(db, app, piece);
      const missing = there.size === 0 ? piece : withoutStored(piece, there, occurrences);
      const columns = columnsOf(piece);
      return {
        sessions: missing,
        columns: missing === piece ? columns : columnsOf(missing),
        rejected: [],
        texts: [...columns, ...occurrences.ofSessions(piece)],
      };
    };

    let key: BatchKey | undefined;
    const importPiece = async (
      piece: readonly ValidSession[],
      assertHeld: AssertHeld,
    ): Promise<HistoryResult> => {
      const { sessions: missing, columns, texts, rejected: refused } = await missingEvents(piece);
      const all = countEvents(piece) - refused.length;
      const events = countEvents(missing);
      const nothing = { sessions: [], events: 0, duplicates: all, rejected: refused };
      if (events === 0) return nothing;
      const batch = { app: app.id, batch: uuidOf(texts) };
      key = batch;
      const stored = await store.storeOnce(batch, () => batchRows(batch, missing, columns), assertHeld);
      if (stored === null) return nothing;
      return { sessions: indexesOf(missing), events, duplicates: all - events, rejected: refused };
    };
    const imported = async (assertHeld: AssertHeld): Promise<HistoryResult> => {
      if (!(await flushesEnd(() => unsettled(app.id)))) throw unavailable();
      let all: HistoryResult = { sessions: [], events: 0, duplicates: 0, rejected };
      for (const piece of piecesOf(sessions)) {
        const one = await importPiece(piece, assertHeld);
        all = {
          sessions: [...all.sessions, ...one.sessions],
          events: all.events + one.events,
          duplicates: all.duplicates + one.duplicates,
          rejected: [...all.rejected, ...one.rejected],
        };
      }
      return { ...all, sessions: all.sessions.toSorted((a, b) => a - b) };
    };
    return new Promise((resolve, reject) => {
      const turn = locks.withLock(`import ${app.id}`, async (assertHeld) => {
        await imported(assertHeld).then(resolve, reject);
        if (key !== undefined) await store.settled(key);
      });
      turn.catch(reject);
    });
  };
}

/** `visits`: each is a visitor's requests in an access log, in the form of a session. */
export type SentKind = 'sessions' | 'visits';

interface Missing {
  readonly sessions: readonly ValidSession[];
  /** Of each session. */
  readonly columns: readonly string[];
  readonly rejected: readonly Rejection[];
  readonly texts: readonly string[];
}

const eventsOf = (sent: unknown): readonly SentVisitEvent[] =>
  (sent as { readonly events: readonly SentVisitEvent[] }).events;

/** Returns the index of each session once, also if several visits became parts of it. */
function indexesOf(sessions: readonly ValidSession[]): number[] {
  const first = new Map(
    sessions.toReversed().map(({ id, startedAt, index }) => [`${id} ${startedAt}`, index]),
  );
  return [...first.values()].sort((a, b) => a - b);
}

function withoutStored(
  sessions: readonly ValidSession[],
  there: StoredCounts,
  occurrences: Occurrences,
): ValidSession[] {
  return sessions.flatMap((session) => {
    const events = session.events.filter((event) => {
      const identity = eventIdentity(session, event);
      return storedTimes(there, session, event) < occurrences.of(session, event.position, identity);
    });
    return events.length === 0 ? [] : [{ ...session, events }];
  });
}

/**
 * Numbers equal events: the 1st, 2nd, … occurrence. The event's own `occurrence` counts; without it, equal
 * events of the request are counted.
 */
class Occurrences {
  readonly #sent: readonly unknown[];
  readonly #counts = new Map<string, number>();

  constructor(sent: readonly unknown[]) {
    this.#sent = sent;
  }

  of(session: ValidSession, position: number, identity: string): number {
    const said = this.#said(session, position);
    if (said !== undefined) return said;
    const count = (this.#counts.get(identity) ?? 0) + 1;
    this.#counts.set(identity, count);
    return count;
  }

  /** Returns the occurrences that these sessions' events state; sessions without any are left out. */
  ofSessions(sessions: readonly ValidSession[]): string[] {
    return sessions.flatMap((session) => {
      const said = session.events.map(({ position }) => this.#said(session, position));
      return said.some((occurrence) => occurrence !== undefined) ? [said.join()] : [];
    });
  }

  #said(session: ValidSession, position: number): number | undefined {
    const { events } = this.#sent[session.index] as { events: readonly { occurrence?: unknown }[] };
    const occurrence = events[position]?.occurrence;
    return typeof occurrence === 'number' && Number.isInteger(occurrence) && occurrence > 0
      ? occurrence
      : undefined;
  }
}

function uuidOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
