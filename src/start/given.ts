import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/time.ts';
import type { LocalWindows } from '../http/gate/shared-windows.ts';
import type { RequestHandler } from '../http/server/server.ts';
import type { Opened } from './opened.ts';

export interface ServiceOptions {
  readonly clock: Clock;
  /** The machine's clock, if `clock` is another one. The rate windows end by it. */
  readonly wallClock?: Clock;
  readonly log?: Logger;
  /** The rate windows in this process, for tests that set them. */
  readonly windows?: LocalWindows;
  /** Puts something in front of the public listener, for tests that make requests fail. */
  readonly before?: (listener: RequestHandler) => RequestHandler;
}

/** What each step of a start is given. It adds to `opened` what it opens. */
export interface Given extends Required<ServiceOptions> {
  readonly config: Config;
  readonly opened: Opened;
}
