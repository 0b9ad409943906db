import { Command, type HelpContext, InvalidArgumentError, Option } from 'commander';
import { CliError, onOneLine } from './cli-error.ts';

/** A command whose errors are a CliError: one line, which says how to see the options. Help goes to standard output. */
export class CommandLine extends Command {
  constructor(name?: string) {
    super(name);
    this.helpOption('-h, --help', 'Prints this help.');
  }

  override createCommand(name?: string): CommandLine {
    return new CommandLine(name);
  }

  override error(message: string): never {
    const said = onOneLine(message.replace(/^error: /, '')).message.replace(/\.$/, '');
    const instead = said.startsWith('unknown command') ? ` Say one of ${this.#names()}.` : '';
    throw new CliError(
      `${said.charAt(0).toUpperCase()}${said.slice(1)}.${instead} Add --help to see the usage.`,
    );
  }

  #names(): string {
    const names = this.commands.map((command) => command.name()).filter((name) => name !== 'help');
    return names.join(', ');
  }

  /** Commander asks for the help as an error if a command is missing. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'object' && context.error === true) {
      this.error(`say a command: one of ${this.#names()}`);
    }
    return super.help({ error: false });
  }
}

/** An option with a value. It may be given once, and not empty. `parse` throws InvalidArgumentError. */
export function valueOption(
  flags: string,
  description: string,
  parse: (value: string) => unknown = (value) => value,
): Option {
  let given = false;
  return new Option(flags, description).argParser((value: string) => {
    if (given) throw new InvalidArgumentError('It is given more than once.');
    given = true;
    if (value === '') throw new InvalidArgumentError('It is empty.');
    return parse(value);
  });
}

/** Parses a whole number of at least `least`. */
export const wholeNumber =
  (least: number) =>
  (value: string): number => {
    const number = Number(value);
    if (Number.isSafeInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} on.`);
  };

/** Parses a number of days, or `none`. The service checks its limits. */
export function days(text: string): number | 'none' {
  if (text === 'none') return text;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of days, or none.');
}

const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);

/** Parses `8s`, `30m`, `24h`, `7d` to seconds. */
export function seconds(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const size = UNIT_SECONDS.get(unit);
  if (amount === undefined || size === undefined) {
    throw new InvalidArgumentError('It must be a number with a unit, such as 8s, 30m, 24h or 7d.');
  }
  return Number(amount) * size;
}
