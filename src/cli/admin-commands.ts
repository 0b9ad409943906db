import { misused, parsedArguments } from './arguments.ts';
import { CliError, HelpAsked } from './cli-error.ts';
import type { ManagementMethod } from './management-client.ts';

/** One call of the management API. */
export interface AdminCall {
  readonly method: ManagementMethod;
  readonly path: string;
  readonly body?: object;
}

type Flags = Readonly<Record<string, string>>;

interface Command {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** `flag` returns a required flag's value. `flags` holds all given flags. */
  readonly call: (flag: (name: string) => string, flags: Flags) => AdminCall;
}

const command = (
  required: readonly string[],
  optional: readonly string[],
  call: Command['call'],
): Command => ({
  required,
  optional,
  call,
});

/** Encodes an id as it is: the service validates it. */
const id = encodeURIComponent;

const COMMANDS: Readonly<Record<string, Command>> = {
  'account create': command(['name'], ['plan'], (_, { name, plan }) => ({
    method: 'POST',
    path: '/accounts',
    body: { name, plan },
  })),
  'account list': command([], [], () => ({ method: 'GET', path: '/accounts' })),
  'account set-plan': command(['account', 'plan'], [], (flag) => ({
    method: 'PUT',
    path: `/accounts/${id(flag('account'))}/plan`,
    body: { plan: flag('plan') },
  })),
  'key create': command(['account'], ['expires'], (flag, { expires }) => ({
    method: 'POST',
    path: `/accounts/${id(flag('account'))}/keys`,
    body: { expiresAt: expires },
  })),
  'key list': command(['account'], [], (flag) => ({
    method: 'GET',
    path: `/accounts/${id(flag('account'))}/keys`,
  })),
  'key rotate': command(['key'], ['overlap', 'expires'], (flag, { overlap, expires }) => ({
    method: 'POST',
    path: `/keys/${id(flag('key'))}/rotate`,
    body: { overlapSeconds: overlapSeconds(overlap), expiresAt: expires },
  })),
  'key revoke': command(['key'], [], (flag) => ({ method: 'POST', path: `/keys/${id(flag('key'))}/revoke` })),
  'app list': command(['account'], [], (flag) => ({
    method: 'GET',
    path: `/accounts/${id(flag('account'))}/apps`,
  })),
  'app rotate-secret': command(['app'], ['overlap'], (flag, { overlap }) => ({
    method: 'POST',
    path: `/apps/${id(flag('app'))}/rotate-secret`,
    body: { overlapSeconds: overlapSeconds(overlap) },
  })),
  'app delete': command(['app'], [], (flag) => ({ method: 'DELETE', path: `/apps/${id(flag('app'))}` })),
  'app share': command(['app', 'account'], [], (flag) => ({ method: 'PUT', path: sharePath(flag) })),
  'ingestion status': command([], [], () => ({ method: 'GET', path: '/ingestion' })),
  'set-aside list': command([], [], () => ({ method: 'GET', path: '/ingestion/set-aside' })),
  'set-aside repeat': command(['id'], [], (flag) => ({
    method: 'POST',
    path: `/ingestion/set-aside/${id(flag('id'))}/repeat`,
  })),
  'set-aside drop': command(['id'], [], (flag) => ({
    method: 'DELETE',
    path: `/ingestion/set-aside/${id(flag('id'))}`,
  })),
  'seal status': command([], [], () => ({ method: 'GET', path: '/seal' })),
  'seal rebuild': command([], ['app'], (_, { app }) => ({
    method: 'POST',
    path: '/seal/rebuild',
    body: { appId: app },
  })),
  'app unshare': command(['app', 'account'], [], (flag) => ({ method: 'DELETE', path: sharePath(flag) })),
};

const sharePath = (flag: (name: string) => string): string =>
  `/apps/${id(flag('app'))}/shares/${id(flag('account'))}`;

const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);

/** Parses `8s`, `30m`, `24h`, `7d` to seconds. The default is 0: the old one stops at once. */
function overlapSeconds(text: string | undefined): number {
  if (text === undefined) return 0;
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = UNIT_SECONDS.get(unit);
  if (amount === undefined || seconds === undefined) {
    throw new CliError('--overlap must be a number with a unit, such as 8s, 30m, 24h or 7d.');
  }
  return Number(amount) * seconds;
}

/** Turns a command line into a call. Throws CliError with the problem and the possible commands or flags. */
export function adminCall(args: readonly string[]): AdminCall {
  const name = args.slice(0, 2).join(' ');
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (found === undefined) {
    if (args.includes('--help')) throw new HelpAsked(allUsages());
    const said = name === '' ? 'No command is given' : `There is no command "${name}"`;
    throw new CliError(`${said}: say one of ${Object.keys(COMMANDS).join(', ')}.`);
  }
  const usage = usageOf(name, found);
  const flags = flagsOf(found, args.slice(2), usage);
  const flag = (key: string): string => {
    const value = flags[key] ?? '';
    if (value === '') throw misused(`--${key} is missing.`, usage);
    return value;
  };
  found.required.forEach(flag);
  return found.call(flag, flags);
}

function flagsOf({ required, optional }: Command, args: readonly string[], usage: string): Flags {
  const options = Object.fromEntries(
    [...required, ...optional].map((key) => [key, { type: 'string', multiple: true } as const]),
  );
  const flags: Record<string, string> = {};
  const { values } = parsedArguments(args, options, usage);
  for (const [key, given = []] of Object.entries(values)) {
    const [value = '', ...more] = given;
    if (more.length > 0) throw misused(`--${key} is given more than once.`, usage);
    flags[key] = value;
  }
  return flags;
}

const usageOf = (name: string, command: Command): string => `Usage: admin -- ${spelled(name, command)}`;

const allUsages = (): string =>
  `Usage: admin -- COMMAND, one of\n\n${Object.entries(COMMANDS)
    .map(([name, command]) => spelled(name, command))
    .join('\n')}`;

const spelled = (name: string, { required, optional }: Command): string =>
  [name, ...required.map((key) => `--${key} …`), ...optional.map((key) => `[--${key} …]`)].join(' ');
