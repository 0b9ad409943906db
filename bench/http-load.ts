import { connect, type Socket } from 'node:net';
import { type Outcome, Tally } from './tally.ts';

/** A question that a load generator polls. */
export interface Poll {
  /** The request without If-None-Match and without the empty line. */
  readonly head: string;
  /** The value of If-None-Match, and whether it is replaced with the tag of the latest answer. */
  readonly etag: string | null;
  readonly follows: boolean;
}

export interface Load {
  readonly host: string;
  readonly port: number;
  readonly polls: readonly Poll[];
  readonly connections: number;
  /** Before the measurement, every poll is answered so often, in a closed loop. The first answers are computed. */
  readonly warmUpTurns: number;
  /** The warm-up takes at least so long. */
  readonly warmUpMs: number;
  readonly ms: number;
  /**
   * Arrivals per second of an open loop. Null: a closed loop, in which each connection sends after its
   * answer.
   */
  readonly rate: number | null;
}

/** Called with the status of each answer. */
type Answered = (status: number) => void;

/** A kept connection with as little CPU time as possible, because it shares the machine with the service. */
class Connection {
  readonly #socket: Socket;
  readonly #polls: MutablePoll[];
  #received: Buffer | null = null;
  #answered: Answered | null = null;
  #poll: MutablePoll | null = null;

  constructor(socket: Socket, polls: MutablePoll[]) {
    this.#socket = socket;
    this.#polls = polls;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', (error) => {
      throw error;
    });
    socket.on('close', () => {
      if (this.#answered !== null) throw new Error('the connection was closed before the answer came');
    });
  }

  ask(answered: Answered): void {
    const poll = this.#polls.shift();
    if (poll === undefined) throw new Error('nothing to ask');
    // To the end of the queue: polls are sent in turn, none twice at once.
    this.#polls.push(poll);
    this.#answered = answered;
    this.#poll = poll;
    this.#socket.write(poll.bytes);
  }

  close(): void {
    this.#answered = null;
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    const received = this.#received === null ? bytes : Buffer.concat([this.#received, bytes]);
    const end = received.indexOf('\r\n\r\n');
    const status = Number(received.toString('latin1', 9, 12));
    const length = end < 0 ? 0 : lengthIn(received, end, status);
    if (end < 0 || received.length < end + 4 + length) {
      this.#received = received;
      return;
    }
    this.#received = null;
    if (status === 200 && this.#poll?.follows) follow(this.#poll, received.toString('latin1', 0, end));
    const answered = this.#answered;
    this.#answered = null;
    answered?.(status);
  }
}

/** A 304 has no body, even if its headers announce one. */
function lengthIn(received: Buffer, end: number, status: number): number {
  if (status === 304) return 0;
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, end))?.[1];
  if (length === undefined) throw new Error(`no length in ${received.toString('latin1', 0, end)}`);
  return Number(length);
}

interface MutablePoll {
  readonly head: string;
  readonly follows: boolean;
  bytes: Buffer;
}

const bytesOf = (head: string, etag: string | null): Buffer =>
  Buffer.from(`${head}${etag === null ? '' : `If-None-Match: ${etag}\r\n`}\r\n`, 'latin1');

function follow(poll: MutablePoll, head: string): void {
  poll.bytes = bytesOf(poll.head, /ETag: (\S+)/.exec(head)?.[1] ?? null);
}

const opened = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, host);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });

async function generate(load: Load): Promise<Outcome> {
  const { host, port, polls, connections, ms, rate } = load;
  const queue = polls.map(({ head, follows, etag }) => ({ head, follows, bytes: bytesOf(head, etag) }));
  const open = await Promise.all(
    Array.from({ length: connections }, async () => new Connection(await opened(host, port), queue)),
  );
  await warmUp(open, load);
  const tally = new Tally(ms);
  const note = (began: number, status: number): void => tally.note(performance.now() - began, status);
  const to = performance.now() + ms;
  if (rate === null) await closedLoop(open, () => performance.now() >= to, note);
  else await openLoop(open, rate, to, note);
  for (const connection of open) connection.close();
  return tally.outcome();
}

function warmUp(open: readonly Connection[], { polls, warmUpTurns, warmUpMs }: Load): Promise<unknown> {
  const until = performance.now() + warmUpMs;
  const enough = warmUpTurns * polls.length;
  let answered = 0;
  return closedLoop(
    open,
    () => answered >= enough && performance.now() >= until,
    () => answered++,
  );
}

type Note = (began: number, status: number) => void;

const closedLoop = (open: readonly Connection[], isOver: () => boolean, note: Note): Promise<unknown> =>
  Promise.all(
    open.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const next = (): void => {
            if (isOver()) {
              resolve();
              return;
            }
            const began = performance.now();
            connection.ask((status) => {
              note(began, status);
              next();
            });
          };
          next();
        }),
    ),
  );

/**
 * Latency counts from the time at which a request was due, not from the time at which a connection was free. A service
 * that stands still for a second so delays all requests of that second (no coordinated omission).
 */
async function openLoop(open: readonly Connection[], rate: number, to: number, note: Note): Promise<void> {
  const start = performance.now();
  const free = [...open];
  const due: number[] = [];
  let sent = 0;
  let busy = 0;
  const serve = (): void => {
    while (due.length > 0) {
      // In turn, because an unused connection would be closed as idle.
      const connection = free.shift();
      if (connection === undefined) return;
      const began = due.shift() ?? 0;
      busy++;
      connection.ask((status) => {
        note(began, status);
        free.push(connection);
        busy--;
        serve();
      });
    }
  };
  for (let now = start; now < to; now = performance.now()) {
    // Evenly spaced arrivals. Random (Poisson) arrivals of the same load would need a wider window.
    for (; start + (sent * 1000) / rate <= now; sent++) due.push(start + (sent * 1000) / rate);
    serve();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (busy > 0 || due.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

// The bench may have been killed.
process.on('disconnect', () => process.exit());
process.on('message', (load: Load) => {
  generate(load).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
