import { Option } from 'commander';
import { days, seconds, valueOption } from './command-line.ts';
import type { RefusedCall } from './management-client.ts';

/** The options of all commands, but for --yes and --json. `field` is the name that the service's errors use. */
const VALUES = {
  account: {
    field: 'accountId',
    make: () => valueOption('--account <account>', 'The name of the account, or its id.'),
  },
  addresses: {
    field: 'addresses',
    make: () =>
      valueOption(
        '--addresses <list>',
        'Addresses or ranges with commas between them, such as 192.0.2.7,2001:db8::/32; none: nothing.',
        (text) => (text === 'none' ? [] : text.split(',').map((range) => range.trim())),
      ),
  },
  app: {
    field: 'appId',
    make: () => valueOption('--app <app>', 'The name of the app, its domain or its id.'),
  },
  asNew: {
    field: 'asNew',
    make: () => new Option('--as-new', 'Gives the app a new id and a new secret. The secret is shown once.'),
  },
  days: {
    field: 'days',
    make: () => valueOption('--days <days>', 'Raw events are kept for this many days; none: for ever.', days),
  },
  domain: {
    field: 'domain',
    make: () => valueOption('--domain <origin>', 'Where the SDK runs, such as https://shop.example.'),
  },
  email: {
    field: 'email',
    make: () => valueOption('--email <address>', "A person's e-mail address."),
  },
  expires: {
    field: 'expiresAt',
    make: () =>
      valueOption('--expires <instant>', 'The new key stops at this instant, such as 2027-01-31T00:00:00Z.'),
  },
  id: {
    field: 'id',
    make: () => valueOption('--id <id>', "The group's id, as set-aside list shows it."),
  },
  key: {
    field: 'keyId',
    make: () => valueOption('--key <id>', "The key's id, as key list shows it. Not the key itself."),
  },
  name: {
    field: 'name',
    make: () => valueOption('--name <text>', 'A name of 1 to 100 characters, for people.'),
  },
  visitor: {
    field: 'visitorId',
    make: () => valueOption('--visitor <id>', "The visitor's id, as the SDK sent it."),
  },
  overlap: {
    field: 'overlapSeconds',
    make: () =>
      valueOption(
        '--overlap <time>',
        'The old one goes on for this time, such as 8s, 30m, 24h or 7d.',
        seconds,
      ),
  },
  role: {
    field: 'role',
    make: () => valueOption('--role <role>', 'owner, or viewer: sees everything and changes nothing.'),
  },
  plan: {
    field: 'plan',
    make: () => valueOption('--plan <plan>', 'free (3 apps), pro (100 apps) or suspended (no analytics).'),
  },
} as const;

export type OptionName = keyof typeof VALUES;

/** The values of a command's options. Those that it requires are there: Commander has checked that. */
export interface Values
  extends Readonly<Record<'account' | 'app' | 'email' | 'id' | 'key' | 'visitor', string>> {
  readonly addresses?: readonly string[];
  readonly asNew?: boolean;
  readonly days?: number | 'none';
  readonly domain?: string;
  readonly expires?: string;
  readonly name?: string;
  /** Seconds. */
  readonly overlap?: number;
  readonly plan?: string;
  readonly role?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
}

export const optionOf = (name: OptionName): Option => VALUES[name].make();
export const jsonOption = (): Option => new Option('--json', 'Prints JSON, also on a terminal.');
export const yesOption = (): Option => new Option('--yes', 'Deletes without asking for the name.');

/** Says the service's refusal, with the options that were typed in the place of the request's fields. */
export function refusalByOption({ detail, errors }: RefusedCall, values: Partial<Values>): string {
  const names = Object.keys(VALUES) as OptionName[];
  if (errors.length > 0) {
    const options = new Map<string, OptionName>(names.map((name) => [VALUES[name].field, name]));
    return errors
      .map(({ field, message }) => {
        const option = options.get(field);
        return `${option === undefined ? field : `--${option}`}: ${message}`;
      })
      .join(' ');
  }
  // Such as "There is no account …", with the id that was given.
  const about = names.find((name) => {
    const value = values[name];
    return typeof value === 'string' && value.length > 30 && detail.includes(value.toLowerCase());
  });
  return about === undefined ? detail : `--${about}: ${detail}`;
}
