const EVERY_MS = { terminal: 500, other: 10_000 } as const;

/** Where the progress is shown. */
export interface Screen {
  /** True if the last line can be written again. */
  readonly isTerminal: boolean;
  write(text: string): void;
}

/** Figures of the moment. They only grow. */
export interface Figures {
  /** The work that is done, and all of it, in any unit. Null: unknown. */
  readonly done: number;
  readonly all: number | null;
  readonly lines: number;
  /** Null while nothing is sent. */
  readonly events: number | null;
}

/** Shows one line again and again: how much is done, how fast it goes, and the time that is left. */
export class Progress {
  readonly #screen: Screen;
  #what = '';
  #begin: { readonly at: number; readonly figures: Figures } | null = null;
  #next = 0;
  #isOpen = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Begins a part of the work. Rates count from here. */
  begin(what: string): void {
    this.#what = what;
    this.#begin = null;
  }

  show(figures: () => Figures): void {
    const now = performance.now();
    if (this.#begin === null) {
      this.#begin = { at: now, figures: figures() };
      this.#next = now + this.#everyMs;
    }
    if (now < this.#next) return;
    this.#next = now + this.#everyMs;
    const text = line(this.#what, figures(), this.#begin.figures, now - this.#begin.at);
    this.#screen.write(this.#screen.isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
    this.#isOpen = this.#screen.isTerminal;
  }

  /** Writes a line that stays. */
  say(text: string): void {
    this.#screen.write(`${this.#isOpen ? '\r\x1b[K' : ''}${text}\n`);
    this.#isOpen = false;
  }

  get #everyMs(): number {
    return this.#screen.isTerminal ? EVERY_MS.terminal : EVERY_MS.other;
  }
}

/** Pure. `begin`: the figures `ms` earlier. */
export function line(what: string, now: Figures, begin: Figures, ms: number): string {
  const perSecond = (value: number, before: number): string =>
    number(((value - before) * 1000) / Math.max(ms, 1));
  const { done, all, lines, events } = now;
  const parts = [`${number(lines)} lines (${perSecond(lines, begin.lines)}/s)`];
  if (events !== null) parts.push(`${number(events)} events (${perSecond(events, begin.events ?? 0)}/s)`);
  if (all === null) return `${what}: ${parts.join(', ')}`;
  const left = done > begin.done ? (ms * (all - done)) / (done - begin.done) : null;
  if (left !== null) parts.push(`${duration(left)} left`);
  return `${what}: ${Math.floor(all === 0 ? 100 : (done / all) * 100)} %, ${parts.join(', ')}`;
}

const number = (value: number): string => Math.round(value).toLocaleString('en-US');

/** Returns `12 s`, `3 min 20 s` or `1 h 5 min`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60];
  if (h > 0) return `${h} h${m > 0 ? ` ${m} min` : ''}`;
  if (m > 0) return `${m} min${s > 0 ? ` ${s} s` : ''}`;
  return `${s} s`;
}
