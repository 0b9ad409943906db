/** Shows on standard error what is measured, and about how long it still takes. */
export class Progress {
  #prefix = '';
  #laterSeconds = 0;
  #what = '';
  #steps = 1;
  #done = 0;
  #began = 0;
  #open = false;

  /** A part of a suite. `laterSeconds`: the expected time of the parts after it. */
  part(prefix: string, laterSeconds: number): void {
    this.#prefix = prefix;
    this.#laterSeconds = laterSeconds;
    this.#what = '';
  }

  /** Begins work of so many steps that take about the same time. */
  begin(what: string, steps: number): void {
    this.#what = what;
    this.#steps = steps;
    this.#done = -1;
    this.#began = performance.now();
  }

  /** The next step begins. */
  step(text: string): void {
    this.#done++;
    const elapsed = (performance.now() - this.#began) / 1000;
    const own = this.#done > 0 ? (elapsed / this.#done) * Math.max(0, this.#steps - this.#done) : null;
    const left = own === null ? '' : `, about ${duration(own + this.#laterSeconds)} left`;
    this.#write(`${this.#prefix}${this.#what}: ${text} (${this.#done + 1} of ${this.#steps}${left})`);
  }

  /** Work without steps, such as a data set that is being built. */
  say(text: string): void {
    this.#write(`${this.#prefix}${text}`);
  }

  /** Ends the line, before something is printed. */
  end(): void {
    if (process.stderr.isTTY && this.#open) process.stderr.write('\n');
    this.#open = false;
  }

  #write(line: string): void {
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
    this.#open = true;
  }
}

/** 75 is `1 min 15 s`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${Math.round(whole / 60)} min`;
}
