import { connect, type Socket } from 'node:net';

export interface Response {
  readonly status: number;
  readonly body: string;
}

/**
 * One kept connection that sends POST after POST with as little CPU time as possible, because the load
 * generator shares the machine with the service. It understands only answers with a Content-Length.
 */
export class Sender {
  readonly #socket: Socket;
  readonly #head: string;
  #received = '';
  #answered: ((response: Response) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  constructor(url: string, path: string) {
    const { hostname, port, host } = new URL(url);
    this.#head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: `;
    this.#socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error) => this.#failed?.(error));
    this.#socket.on('close', () => this.#failed?.(new Error('the service closed the connection')));
  }

  /** `body` is ASCII. One call at a time. */
  post(body: string): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(`${this.#head}${body.length}\r\n\r\n${body}`, 'latin1');
    });
  }

  close(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const response = {
      status: Number(this.#received.slice(9, 12)),
      body: this.#received.slice(end + 4),
    };
    this.#received = '';
    this.#answered?.(response);
  }
}
