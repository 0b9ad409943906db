import type { Option } from 'commander';
import { type AdminCall, type AdminCommand, COMMANDS, GROUPS, SINGLE } from './admin-commands.ts';
import { jsonOption, optionOf, type Values, yesOption } from './admin-options.ts';
import { CommandLine } from './command-line.ts';

type Run = (call: AdminCall) => Promise<void> | void;

/** Adds the groups of commands, or those named, to `parent`. `run` is called with the call of the command that is given. */
export function addAdminCommands(
  parent: CommandLine,
  run: Run,
  groups = Object.keys(GROUPS) as readonly (keyof typeof GROUPS)[],
): void {
  for (const group of groups) {
    const line = parent.command(group).description(GROUPS[group]);
    for (const [name, command] of Object.entries(COMMANDS)) {
      if (name.startsWith(`${group} `)) addCommand(line, name.slice(group.length + 1), command, run);
    }
  }
  if (groups.length > 1) {
    for (const [name, command] of Object.entries(SINGLE)) addCommand(parent, name, command, run);
  }
}

function addCommand(
  group: CommandLine,
  name: string,
  { says, example, required = [], optional = [], oneOption = false, call, deletes, pipe }: AdminCommand,
  run: Run,
): void {
  const options: Option[] = [
    ...required.map((option) => optionOf(option).makeOptionMandatory()),
    ...optional.map((option) =>
      optionOf(option).conflicts(oneOption ? optional.filter((other) => other !== option) : []),
    ),
    ...(deletes === undefined ? [] : [yesOption()]),
    ...(pipe === 'out' ? [] : [jsonOption()]),
  ];
  const line = group.command(name).description(says);
  for (const option of options) line.addOption(option);
  line.addHelpText('after', () => `\nExample:\n  ${[wholeName(line), example ?? ''].join(' ').trim()}`);
  const callOf = (values: Values): AdminCall => ({
    ...call(values),
    values,
    with: callOf,
    ...(deletes === undefined ? {} : { deletes: deletes(values) }),
    ...(pipe === undefined ? {} : { pipe }),
  });
  line.action((values: Values) => run(callOf(values)));
}

/** `session-analytics admin key list`. */
const wholeName = (line: CommandLine): string =>
  (line.parent === null ? '' : `${wholeName(line.parent as CommandLine)} `) + line.name();

/** Turns a command line into a call. Throws CliError with the problem. */
export function adminCall(args: readonly string[]): AdminCall {
  let found: AdminCall | undefined;
  const line = new CommandLine('admin');
  addAdminCommands(line, (call) => {
    found = call;
  });
  line.parse(args, { from: 'user' });
  if (found === undefined) throw new Error('no command was run');
  return found;
}
