import { z } from 'zod';
import { isUuid } from '../domain/ids.ts';
import { AppDomain, hostOf } from '../metadata/names.ts';
import type { Values } from './admin-options.ts';
import { CliError } from './cli-error.ts';

/** Reads a list of the management API. */
export type List = (path: string) => Promise<unknown>;

const Accounts = z.array(z.object({ accountId: z.string(), name: z.string() }));
const Apps = z.array(
  z.object({ id: z.string(), name: z.string(), domain: z.string(), accountName: z.string() }),
);

/** A thing that a name may stand for. */
interface Candidate {
  readonly id: string;
  /** What distinguishes it from others of the same name. */
  readonly about: string;
}

/** Returns the options with ids in the place of names: an account by its name, an app by its name or its domain. */
export async function withIds<T extends Partial<Values>>(values: T, list: List): Promise<T> {
  const { account, app } = values;
  return {
    ...values,
    ...(account === undefined ? {} : { account: await accountIdOf(account, list) }),
    ...(app === undefined ? {} : { app: await appIdOf(app, list) }),
  };
}

/** Throws a CliError if the name stands for no app, or for several. */
export async function appIdOf(given: string, list: List): Promise<string> {
  if (isUuid(given)) return given.toLowerCase();
  const apps = Apps.parse(await list('/apps')).filter(
    ({ name, domain }) => name === given.trim() || isDomain(given, domain),
  );
  const candidates = apps.map(({ id, name, domain, accountName }) => ({
    id,
    about: `${name}, ${domain}, of ${accountName}`,
  }));
  return onlyOne('app', 'name or domain', given, candidates);
}

async function accountIdOf(given: string, list: List): Promise<string> {
  if (isUuid(given)) return given.toLowerCase();
  const accounts = Accounts.parse(await list('/accounts')).filter(({ name }) => name === given.trim());
  const candidates = accounts.map(({ accountId, name }) => ({ id: accountId, about: name }));
  return onlyOne('account', 'name', given, candidates);
}

/** Whether `given` is the origin `domain`, or its host. */
function isDomain(given: string, domain: string): boolean {
  const origin = AppDomain.safeParse(given.includes('://') ? given : `https://${given}`);
  if (!origin.success) return false;
  return given.includes('://') ? origin.data === domain : hostOf(origin.data) === hostOf(domain);
}

function onlyOne(
  kind: 'account' | 'app',
  what: 'name' | 'name or domain',
  given: string,
  candidates: readonly Candidate[],
): string {
  const [found, ...more] = candidates;
  if (found === undefined) {
    throw new CliError(
      `--${kind}: There is no ${kind} with the ${what} ${given}. "admin ${kind} list" shows all.`,
    );
  }
  if (more.length === 0) return found.id;
  const all = candidates.map(({ id, about }) => `${id} (${about})`).join(', ');
  throw new CliError(
    `--${kind}: ${candidates.length} ${kind}s have the ${what} ${given}. Give the id of one: ${all}.`,
  );
}
