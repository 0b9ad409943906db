/** A repeated job. Runs never overlap. */
export interface Repeated {
  /** Runs the job now and then in each interval. An interval is skipped while a run lasts. */
  start(): void;
  /** Runs the job, or joins the run that has begun. Resolves at its end, never rejects. */
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
  const once = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ name, err: error, pauseMs: ms }, 'failed; will be retried');
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
