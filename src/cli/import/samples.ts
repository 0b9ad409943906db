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

  /** `text` may hold anything. */
  add(input: number, line: number, text: string): void {
    if (++this.#count > SHOWN) return;
    const shown = text.slice(0, LONGEST).replace(/[\p{C}\ufffd]/gu, '\ufffd');
    const more = text.length > LONGEST ? '…' : '';
    this.#say(`${this.#what}: ${this.#inputs[input] ?? ''}, line ${line}: ${shown}${more}`);
  }

  end(): void {
    if (this.#count > SHOWN)
      this.#say(`${this.#what}: ${this.#count} in all, of which the first ${SHOWN} are shown.`);
  }
}
