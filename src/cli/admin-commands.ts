import type { OptionName, Values } from './admin-options.ts';
import { anAccount, anApp, aSetAsideGroup, type FindDoomed, theDamaged } from './deletion.ts';
import type { ManagementMethod } from './management-client.ts';

/** One call of the management API, as a command asks for it. */
export interface AdminCall {
  readonly method: ManagementMethod;
  readonly path: string;
  readonly body?: object;
  readonly values: Values;
  /** The same command with other options. */
  readonly with: (values: Values) => AdminCall;
  /** Finds the data that the call deletes, if it deletes any. */
  readonly deletes?: FindDoomed;
  /** The call's answer goes to standard output, or its body comes from standard input, byte for byte. */
  readonly pipe?: 'out' | 'in';
}

export interface AdminCommand {
  readonly says: string;
  /** The arguments of an example. */
  readonly example?: string;
  readonly required?: readonly OptionName[];
  readonly optional?: readonly OptionName[];
  /** Only one of the optional options may be given. */
  readonly oneOption?: boolean;
  readonly call: (values: Values) => Pick<AdminCall, 'method' | 'path' | 'body'>;
  readonly deletes?: (values: Values) => FindDoomed;
  readonly pipe?: 'out' | 'in';
}

export const GROUPS = {
  account: 'Accounts and their plans.',
  key: "Accounts' API keys.",
  app: 'Apps: their creation, secrets, shares, retention, excluded addresses, moves and deletion.',
  visitor: 'One visitor of an app.',
  share: 'Shares of apps with other accounts.',
  member: 'People who may sign in to an account.',
  ingestion: 'Events as they come in.',
  'set-aside': 'Groups of events that the store refused.',
  seal: 'Sealed facts: how far, and computing them again.',
  damage: 'Damaged parts of the store.',
} as const;

/** An id for the examples. */
const ID = 'd4a1f6c0-2b7e-4e39-9a55-0c1f8e7b6d32';

/** Encodes an id as it is: the service validates it. */
const id = encodeURIComponent;
const memberPath = ({ account, email }: Values): string => `/accounts/${id(account)}/members/${id(email)}`;
const sharePath = ({ app, account }: Values): string => `/apps/${id(app)}/shares/${id(account)}`;

function sharesPath({ app, account }: Partial<Values>): string {
  if (app !== undefined) return `/apps/${id(app)}/shares`;
  return account === undefined ? '/shares' : `/accounts/${id(account)}/shares`;
}

/** Commands by their group and name. */
export const COMMANDS: Readonly<Record<`${keyof typeof GROUPS} ${string}`, AdminCommand>> = {
  'account create': {
    says: 'Creates an account.',
    required: ['name'],
    optional: ['plan'],
    example: `--name "Acme" --plan pro`,
    call: ({ name, plan }) => ({ method: 'POST', path: '/accounts', body: { name, plan } }),
  },
  'account list': {
    says: 'Lists all accounts.',
    call: () => ({ method: 'GET', path: '/accounts' }),
  },
  'account set-plan': {
    says: "Changes an account's plan. It takes effect within 5 s.",
    required: ['account', 'plan'],
    example: `--account Acme --plan suspended`,
    call: ({ account, plan }) => ({ method: 'PUT', path: `/accounts/${id(account)}/plan`, body: { plan } }),
  },
  'account rename': {
    says: 'Gives an account another name.',
    required: ['account', 'name'],
    example: `--account Acme --name "Acme Ltd"`,
    call: ({ account, name }) => ({ method: 'PUT', path: `/accounts/${id(account)}/name`, body: { name } }),
  },
  'account delete': {
    says: 'Deletes an account with its keys, its apps and all their data. Asks for its name.',
    required: ['account'],
    example: `--account Acme`,
    call: ({ account }) => ({ method: 'DELETE', path: `/accounts/${id(account)}` }),
    deletes: ({ account }) => anAccount(account),
  },
  'key create': {
    says: 'Creates an API key. It is shown once.',
    required: ['account'],
    optional: ['name', 'expires'],
    example: `--account Acme --name "CI" --expires 2027-01-31T00:00:00Z`,
    call: ({ account, name, expires }) => ({
      method: 'POST',
      path: `/accounts/${id(account)}/keys`,
      body: { name, expiresAt: expires },
    }),
  },
  'key list': {
    says: "Lists an account's keys: names, first characters, states and last uses; not the keys themselves.",
    required: ['account'],
    example: `--account Acme`,
    call: ({ account }) => ({ method: 'GET', path: `/accounts/${id(account)}/keys` }),
  },
  'key rotate': {
    says: 'Creates a key of the same name in the place of another one. It is shown once.',
    required: ['key'],
    optional: ['overlap', 'expires'],
    example: `--key ${ID} --overlap 24h`,
    call: ({ key, overlap, expires }) => ({
      method: 'POST',
      path: `/keys/${id(key)}/rotate`,
      body: { overlapSeconds: overlap ?? 0, expiresAt: expires },
    }),
  },
  'key revoke': {
    says: 'Ends a key within 5 s.',
    required: ['key'],
    example: `--key ${ID}`,
    call: ({ key }) => ({ method: 'POST', path: `/keys/${id(key)}/revoke` }),
  },
  'app list': {
    says: 'Lists all apps; or those that an account owns and those shared with it.',
    optional: ['account'],
    example: `--account Acme`,
    call: ({ account }: Partial<Values>) => ({
      method: 'GET',
      path: account === undefined ? '/apps' : `/accounts/${id(account)}/apps`,
    }),
  },
  'app create': {
    says: "Creates an app in an account. Its SDK's secret is shown once.",
    required: ['account', 'name', 'domain'],
    example: `--account Acme --name "Shop" --domain https://shop.example`,
    call: ({ account, name, domain }) => ({
      method: 'POST',
      path: `/accounts/${id(account)}/apps`,
      body: { name, domain },
    }),
  },
  'app rotate-secret': {
    says: "Creates a secret in the place of the app's old one. It is shown once.",
    required: ['app'],
    optional: ['overlap'],
    example: `--app shop.example --overlap 24h`,
    call: ({ app, overlap }) => ({
      method: 'POST',
      path: `/apps/${id(app)}/rotate-secret`,
      body: { overlapSeconds: overlap ?? 0 },
    }),
  },
  'app delete': {
    says: 'Deletes an app with all its data. Asks for its name.',
    required: ['app'],
    example: `--app shop.example`,
    call: ({ app }) => ({ method: 'DELETE', path: `/apps/${id(app)}` }),
    deletes: ({ app }) => anApp(app),
  },
  'app export': {
    says: 'Writes an app with all its events to standard output, as a tar archive.',
    required: ['app'],
    example: `--app shop.example > app.tar`,
    call: ({ app }) => ({ method: 'GET', path: `/apps/${id(app)}/export` }),
    pipe: 'out',
  },
  'app import': {
    says: 'Reads an app that was exported from standard input, and adds it to an account.',
    optional: ['account', 'asNew'],
    example: `--account Acme < app.tar`,
    call: ({ account, asNew }: Partial<Values>) => ({
      method: 'POST',
      path: `/app-imports?${new URLSearchParams({
        ...(account === undefined ? {} : { accountId: account }),
        ...(asNew === true ? { asNew: 'true' } : {}),
      })}`,
    }),
    pipe: 'in',
  },
  'app set-retention': {
    says: 'Sets for how many days raw events are kept. Older ranges of events then need whole hours. Nothing is deleted within an hour.',
    required: ['app', 'days'],
    example: `--app shop.example --days 395`,
    call: ({ app, days }) => ({
      method: 'PUT',
      path: `/apps/${id(app)}/retention`,
      body: { days: days === 'none' ? null : days },
    }),
  },
  'app retention': {
    says: 'Shows for how many days raw events are kept, and from when on they are there.',
    required: ['app'],
    example: `--app shop.example`,
    call: ({ app }) => ({ method: 'GET', path: `/apps/${id(app)}/retention` }),
  },
  'app exclude': {
    says: 'Leaves out the events of some addresses within 5 s. Replaces the list of the app; none: leaves out nothing.',
    required: ['app', 'addresses'],
    example: `--app shop.example --addresses 192.0.2.0/24,2001:db8::/32`,
    call: ({ app, addresses }) => ({
      method: 'PUT',
      path: `/apps/${id(app)}/excluded-addresses`,
      body: { addresses },
    }),
  },
  'app excluded': {
    says: 'Lists the addresses whose events are left out.',
    required: ['app'],
    example: `--app shop.example`,
    call: ({ app }) => ({ method: 'GET', path: `/apps/${id(app)}/excluded-addresses` }),
  },
  'app share': {
    says: "Lets an account read an app's analytics.",
    required: ['app', 'account'],
    example: `--app shop.example --account Partner`,
    call: (values) => ({ method: 'PUT', path: sharePath(values) }),
  },
  'app unshare': {
    says: 'Ends a share within 5 s.',
    required: ['app', 'account'],
    example: `--app shop.example --account Partner`,
    call: (values) => ({ method: 'DELETE', path: sharePath(values) }),
  },
  'visitor erase': {
    says: 'Erases everything that a visitor did in an app until now.',
    required: ['app', 'visitor'],
    example: `--app shop.example --visitor v-2f6c1a`,
    call: ({ app, visitor }) => ({
      method: 'POST',
      path: `/apps/${id(app)}/visitor-erasures`,
      body: { visitorId: visitor },
    }),
  },
  'share list': {
    says: 'Lists the shares: all, those of an app, or those with an account.',
    optional: ['app', 'account'],
    oneOption: true,
    example: `--app shop.example`,
    call: (values) => ({ method: 'GET', path: sharesPath(values) }),
  },
  'member set': {
    says: 'Lets a person sign in to an account, as an owner or a viewer, or changes the role.',
    required: ['account', 'email', 'role'],
    example: `--account Acme --email ada@example.com --role viewer`,
    call: (values) => ({ method: 'PUT', path: memberPath(values), body: { role: values.role } }),
  },
  'member remove': {
    says: 'Ends a membership, and its sessions within 5 s.',
    required: ['account', 'email'],
    example: `--account Acme --email ada@example.com`,
    call: (values) => ({ method: 'DELETE', path: memberPath(values) }),
  },
  'member list': {
    says: "Lists an account's members.",
    required: ['account'],
    example: `--account Acme`,
    call: ({ account }) => ({ method: 'GET', path: `/accounts/${id(account)}/members` }),
  },
  'ingestion status': {
    says: 'Shows what was accepted and rejected since the start.',
    call: () => ({ method: 'GET', path: '/ingestion' }),
  },
  'ingestion repeat': {
    says: 'Repeats the steps that the store refused, at once. "held" is what is left.',
    call: () => ({ method: 'POST', path: '/ingestion/repeat' }),
  },
  'set-aside list': {
    says: 'Lists the groups.',
    call: () => ({ method: 'GET', path: '/ingestion/set-aside' }),
  },
  'set-aside repeat': {
    says: 'Stores a group, once.',
    required: ['id'],
    example: `--id ${ID}`,
    call: (values) => ({ method: 'POST', path: `/ingestion/set-aside/${id(values.id)}/repeat` }),
  },
  'set-aside drop': {
    says: 'Drops a group for good. Asks for the name of its app.',
    required: ['id'],
    example: `--id ${ID}`,
    call: (values) => ({ method: 'DELETE', path: `/ingestion/set-aside/${id(values.id)}` }),
    deletes: (values) => aSetAsideGroup(values.id),
  },
  'seal status': {
    says: 'Shows how far each app is sealed.',
    call: () => ({ method: 'GET', path: '/seal' }),
  },
  'damage list': {
    says: 'Lists damaged parts, what is lost with them, and what to do.',
    call: () => ({ method: 'GET', path: '/damage' }),
  },
  'damage accept': {
    says: 'Accepts the loss of the damaged parts, deletes their files, and computes the rest anew. Asks first.',
    call: () => ({ method: 'POST', path: '/damage/accept' }),
    deletes: () => theDamaged,
  },
  'seal rebuild': {
    says: 'Forgets the sealed facts of an app, or of all apps, and computes them again.',
    optional: ['app'],
    example: `--app shop.example`,
    call: ({ app }) => ({ method: 'POST', path: '/seal/rebuild', body: { appId: app } }),
  },
};

/** Commands without a group. */
export const SINGLE: Readonly<Record<string, AdminCommand>> = {
  'sign-in-link': {
    says: 'Makes a link that signs a person in to the console, once, within 10 minutes.',
    required: ['account'],
    optional: ['email'],
    example: `--account Acme --email ada@example.com`,
    call: ({ account, email }) => ({
      method: 'POST',
      path: `/accounts/${id(account)}/sign-in-link`,
      body: { email },
    }),
  },
  'sign-out': {
    says: 'Signs everybody of an account out of the console, within 5 s, and withdraws unused links.',
    required: ['account'],
    example: `--account Acme`,
    call: ({ account }) => ({ method: 'DELETE', path: `/accounts/${id(account)}/sessions` }),
  },
  audit: {
    says: 'Lists who did what, newest first: in an account, or in all.',
    optional: ['account'],
    example: `--account Acme`,
    call: ({ account }: Partial<Values>) => ({
      method: 'GET',
      path: account === undefined ? '/audit' : `/accounts/${id(account)}/audit`,
    }),
  },
};
