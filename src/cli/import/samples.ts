const SHOWN = 5;
const LONGEST = 160;

/** Shows the first lines that are wrong, and how many there are. */
export class Samples {
  readonly #what: string;
  readonly #inputs: readonly string[];
  readonly #say: (text: string) => void;
  #count = 0;

  constructor(what: string, inputs: readonly string[], say: (text: string) => void) {
    this.#what = what;
    this.#inputs = inputs;
    this.#say = say;
  }

  /** `text` may hold anything. `why` says what is wrong with it. */
  add(input: number, line: number, text: string, why: string | null = null): void {
    if (++this.#count > SHOWN) return;
    const shown = plain(text.slice(0, LONGEST));
    const more = text.length > LONGEST ? '…' : '';
    const reason = why === null ? '' : `${plain(why)}: `;
    this.#say(`${this.#what}: ${this.#inputs[input] ?? ''}, line ${line}: ${reason}${shown}${more}`);
  }

  end(): void {
    if (this.#count > SHOWN)
      this.#say(`${this.#what}: ${this.#count} in all, of which the first ${SHOWN} are shown.`);
  }
}

/** Takes control characters out, which a terminal would obey. */
export const plain = (text: string): string => text.replace(/[\p{C}\ufffd]/gu, '\ufffd');
