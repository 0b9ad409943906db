/** A repeated job. Runs never overlap. */
export interface Repeated {
  /** Runs the job now and then in each interval. An interval is skipped while a run lasts. */
  start(): void;
  /**
   * Runs the job once. A run that has begun may have missed the newest data, so another one follows it, unless the
   * job was stopped meanwhile. Calls during one run share the next one. Resolves at its end, never rejects.
   */
  run(): Promise<void>;
  /** Resolves when no run is left. */
  idle(): Promise<void>;
  /** Stops the job. Resolves when the last run has ended. */
  end(): Promise<void>;
}

export interface Job {
  readonly name: string;
  /** From the start of one run to the start of the next. */
  readonly ms: number;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * Repeats `work`. A failed run is logged and retried in the next interval. The timer does not keep the process
 * alive.
 */
export function every({ name, ms, log }: Job, work: () => Promise<unknown>): Repeated {
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const once = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ name, err: error, pauseMs: ms }, 'failed; will be retried');
    } finally {
      running = undefined;
    }
  };
  const join = (): Promise<void> => {
    running ??= once();
    return running;
  };
  const idle = async (): Promise<void> => running;
  return {
    start: () => {
      void join();
      timer = setInterval(() => void join(), ms).unref();
    },
    run: () => (running === undefined ? join() : running.then(() => (isStopped ? idle() : join()))),
    idle,
    end: () => {
      isStopped = true;
      clearInterval(timer);
      return idle();
    },
  };
}
