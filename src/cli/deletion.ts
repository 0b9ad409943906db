import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { CliError } from './cli-error.ts';
import type { List } from './names.ts';

/** The data that a command deletes, in the user's words. */
interface Doomed {
  readonly what: string;
  /** The name that the user has to type. */
  readonly name: string;
}

/** Finds the data that a command deletes. Resolves to null if they are not there: the service itself reports that. */
export type FindDoomed = (list: List) => Promise<Doomed | null>;

const Accounts = z.array(z.object({ accountId: z.string(), name: z.string() }));
const Apps = z.array(
  z.object({ id: z.string(), name: z.string(), domain: z.string(), accountId: z.string() }),
);
const SetAside = z.array(z.object({ id: z.string(), appId: z.string(), events: z.number() }));

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const anAccount =
  (id: string): FindDoomed =>
  async (list) => {
    const account = Accounts.parse(await list('/accounts')).find(({ accountId }) => same(accountId, id));
    if (account === undefined) return null;
    const apps = Apps.parse(await list('/apps')).filter(({ accountId }) => same(accountId, id));
    const owned = apps.map(({ name, domain }) => `\n  ${name} (${domain})`).join('');
    const what = `the account ${account.name}, its keys, and ${owned === '' ? 'no app' : `with all their data the apps${owned}`}`;
    return { what, name: account.name };
  };

export const anApp =
  (id: string): FindDoomed =>
  async (list) => {
    const app = Apps.parse(await list('/apps')).find((one) => same(one.id, id));
    if (app === undefined) return null;
    return { what: `the app ${app.name} (${app.domain}) with all its data`, name: app.name };
  };

export const aSetAsideGroup =
  (id: string): FindDoomed =>
  async (list) => {
    const group = SetAside.parse(await list('/ingestion/set-aside')).find((one) => same(one.id, id));
    if (group === undefined) return null;
    const app = Apps.parse(await list('/apps')).find((one) => one.id === group.appId);
    const name = app?.name ?? group.appId;
    return { what: `${group.events} events of the app ${name}`, name };
  };

const Damage = z.object({
  parts: z.array(z.object({ table: z.string(), part: z.string(), loss: z.string() })),
});

/** The damaged parts of the store, under the name of the first one's table. */
export const theDamaged: FindDoomed = async (list) => {
  const { parts } = Damage.parse(await list('/damage'));
  const [first] = parts;
  if (first === undefined) return null;
  const what = parts.map(({ table, part, loss }) => `\n  ${part} of ${table}: ${loss}`).join('');
  return { what: `the damaged parts${what}`, name: first.table };
};

/** Asks for the name on the terminal. Throws a CliError if there is none, or for any other answer. */
export async function confirmDeletion(find: FindDoomed, list: List): Promise<void> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) {
    throw new CliError('Nothing was deleted: there is no terminal to ask for the name. Add --yes to delete.');
  }
  const doomed = await find(list);
  if (doomed === null) return;
  stderr.write(`This deletes for good ${doomed.what}.\n`);
  const typed = await ask(`Type ${doomed.name} to delete, or anything else to keep: `);
  if (typed?.trim() !== doomed.name) throw new CliError('Nothing was deleted.');
}

/** Resolves to the line that is typed; null after Ctrl+C or Ctrl+D. */
async function ask(question: string): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await Promise.race([
      terminal.question(question),
      new Promise<null>((resolve) => terminal.once('close', () => resolve(null))),
    ]);
  } finally {
    terminal.close();
  }
}
