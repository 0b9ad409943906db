/** A job that is done again and again, once at a time. */
export interface Repeated {
  /** Runs it now and then in each interval; a turn that finds it running is left out. */
  start(): void;
  /** Resolves when it is done: a run that has begun counts. Never rejects. */
  run(): Promise<void>;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
  /** No further turn; resolves when the last run has ended. */
  end(): Promise<void>;
}

export interface Job {
  readonly name: string;
  /** From the start of one run to that of the next. */
  readonly ms: number;
  readonly log: { warn(fields: object, message: string): void };
}

/** What fails is logged, and tried again in the next turn. The timer does not keep the process alive. */
export function every({ name, ms, log }: Job, work: () => Promise<unknown>): Repeated {
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const once = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ name, err: error, pauseMs: ms }, 'failed; will be tried again');
    } finally {
      running = undefined;
    }
  };
  const run = (): Promise<void> => {
    running ??= once();
    return running;
  };
  const idle = async (): Promise<void> => running;
  return {
    start: () => {
      void run();
      timer = setInterval(() => void run(), ms).unref();
    },
    run,
    idle,
    end: () => {
      clearInterval(timer);
      return idle();
    },
  };
}
