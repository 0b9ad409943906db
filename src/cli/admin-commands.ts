import { InvalidArgumentError, type Option } from 'commander';
import { CommandLine, valueOption } from './command-line.ts';
import type { ManagementMethod } from './management-client.ts';

/** One call of the management API. */
export interface AdminCall {
  readonly method: ManagementMethod;
  readonly path: string;
  readonly body?: object;
}

type Name = keyof typeof OPTIONS;
/** The values of a command's options. Those that it requires are there: Commander has checked that. */
interface Values extends Readonly<Record<'account' | 'app' | 'id' | 'key', string>> {
  readonly expires?: string;
  readonly name?: string;
  /** Seconds. */
  readonly overlap?: number;
  readonly plan?: string;
}

/** The options of all commands. */
const OPTIONS = {
  account: () => valueOption('--account <id>', "The account's id, as account list shows it."),
  app: () => valueOption('--app <id>', "The app's id, as app list shows it."),
  expires: () =>
    valueOption('--expires <instant>', 'The new key stops at this instant, such as 2027-01-31T00:00:00Z.'),
  id: () => valueOption('--id <id>', "The group's id, as set-aside list shows it."),
  key: () => valueOption('--key <id>', "The key's id, as key list shows it. Not the key itself."),
  name: () => valueOption('--name <text>', "The account's name."),
  overlap: () =>
    valueOption(
      '--overlap <time>',
      'The old one goes on for this time, such as 8s, 30m, 24h or 7d.',
      seconds,
    ),
  plan: () => valueOption('--plan <plan>', 'free (3 apps), pro (100 apps) or suspended (no analytics).'),
} as const satisfies Readonly<Record<string, () => Option>>;

interface AdminCommand {
  readonly says: string;
  readonly required?: readonly Name[];
  readonly optional?: readonly Name[];
  readonly call: (values: Values) => AdminCall;
}

const GROUPS = {
  account: 'Accounts and their plans.',
  key: "Accounts' API keys.",
  app: 'Apps: their secrets, shares and deletion.',
  ingestion: 'Events as they come in.',
  'set-aside': 'Groups of events that the store refused.',
  seal: 'Sealed facts: how far, and computing them again.',
} as const;

/** Encodes an id as it is: the service validates it. */
const id = encodeURIComponent;
const sharePath = ({ app, account }: Values): string => `/apps/${id(app)}/shares/${id(account)}`;

const COMMANDS: Readonly<Record<`${keyof typeof GROUPS} ${string}`, AdminCommand>> = {
  'account create': {
    says: 'Creates an account.',
    required: ['name'],
    optional: ['plan'],
    call: ({ name, plan }) => ({ method: 'POST', path: '/accounts', body: { name, plan } }),
  },
  'account list': {
    says: 'Lists all accounts.',
    call: () => ({ method: 'GET', path: '/accounts' }),
  },
  'account set-plan': {
    says: "Changes an account's plan. It takes effect within 5 s.",
    required: ['account', 'plan'],
    call: ({ account, plan }) => ({ method: 'PUT', path: `/accounts/${id(account)}/plan`, body: { plan } }),
  },
  'key create': {
    says: 'Creates an API key. It is shown once.',
    required: ['account'],
    optional: ['expires'],
    call: ({ account, expires }) => ({
      method: 'POST',
      path: `/accounts/${id(account)}/keys`,
      body: { expiresAt: expires },
    }),
  },
  'key list': {
    says: "Lists an account's keys, without the keys themselves.",
    required: ['account'],
    call: ({ account }) => ({ method: 'GET', path: `/accounts/${id(account)}/keys` }),
  },
  'key rotate': {
    says: 'Creates a key in the place of another one. It is shown once.',
    required: ['key'],
    optional: ['overlap', 'expires'],
    call: ({ key, overlap, expires }) => ({
      method: 'POST',
      path: `/keys/${id(key)}/rotate`,
      body: { overlapSeconds: overlap ?? 0, expiresAt: expires },
    }),
  },
  'key revoke': {
    says: 'Ends a key within 5 s.',
    required: ['key'],
    call: ({ key }) => ({ method: 'POST', path: `/keys/${id(key)}/revoke` }),
  },
  'app list': {
    says: 'Lists the apps that an account owns and those shared with it.',
    required: ['account'],
    call: ({ account }) => ({ method: 'GET', path: `/accounts/${id(account)}/apps` }),
  },
  'app rotate-secret': {
    says: "Creates a secret in the place of the app's old one. It is shown once.",
    required: ['app'],
    optional: ['overlap'],
    call: ({ app, overlap }) => ({
      method: 'POST',
      path: `/apps/${id(app)}/rotate-secret`,
      body: { overlapSeconds: overlap ?? 0 },
    }),
  },
  'app delete': {
    says: 'Deletes an app with all its data.',
    required: ['app'],
    call: ({ app }) => ({ method: 'DELETE', path: `/apps/${id(app)}` }),
  },
  'app share': {
    says: "Lets an account read an app's analytics.",
    required: ['app', 'account'],
    call: (values) => ({ method: 'PUT', path: sharePath(values) }),
  },
  'app unshare': {
    says: 'Ends a share within 5 s.',
    required: ['app', 'account'],
    call: (values) => ({ method: 'DELETE', path: sharePath(values) }),
  },
  'ingestion status': {
    says: 'Shows what was accepted and rejected since the start.',
    call: () => ({ method: 'GET', path: '/ingestion' }),
  },
  'set-aside list': {
    says: 'Lists the groups.',
    call: () => ({ method: 'GET', path: '/ingestion/set-aside' }),
  },
  'set-aside repeat': {
    says: 'Stores a group, once.',
    required: ['id'],
    call: (values) => ({ method: 'POST', path: `/ingestion/set-aside/${id(values.id)}/repeat` }),
  },
  'set-aside drop': {
    says: 'Drops a group for good.',
    required: ['id'],
    call: (values) => ({ method: 'DELETE', path: `/ingestion/set-aside/${id(values.id)}` }),
  },
  'seal status': {
    says: 'Shows how far each app is sealed.',
    call: () => ({ method: 'GET', path: '/seal' }),
  },
  'seal rebuild': {
    says: 'Forgets the sealed facts of an app, or of all apps, and computes them again.',
    optional: ['app'],
    call: ({ app }) => ({ method: 'POST', path: '/seal/rebuild', body: { appId: app } }),
  },
};

/** Adds the groups of commands, or those named, to `parent`. `run` is called with the call of the command that is given. */
export function addAdminCommands(
  parent: CommandLine,
  run: (call: AdminCall) => Promise<void> | void,
  groups = Object.keys(GROUPS) as readonly (keyof typeof GROUPS)[],
): void {
  for (const group of groups) {
    const line = parent.command(group).description(GROUPS[group]);
    for (const [name, command] of Object.entries(COMMANDS)) {
      if (name.startsWith(`${group} `)) addCommand(line, name.slice(group.length + 1), command, run);
    }
  }
}

function addCommand(
  group: CommandLine,
  name: string,
  { says, required = [], optional = [], call }: AdminCommand,
  run: (call: AdminCall) => Promise<void> | void,
): void {
  const line = group.command(name).description(says);
  for (const option of required) line.addOption(OPTIONS[option]().makeOptionMandatory());
  for (const option of optional) line.addOption(OPTIONS[option]());
  line.action((values: Values) => run(call(values)));
}

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

const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);

/** Parses `8s`, `30m`, `24h`, `7d` to seconds. */
function seconds(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const size = UNIT_SECONDS.get(unit);
  if (amount === undefined || size === undefined) {
    throw new InvalidArgumentError('It must be a number with a unit, such as 8s, 30m, 24h or 7d.');
  }
  return Number(amount) * size;
}
