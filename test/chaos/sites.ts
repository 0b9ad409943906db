import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { z } from 'zod';
import { appId } from '../../src/domain/ids.ts';
import { askedArbitrary } from '../support/generate-segments.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import type { Asker } from './asker.ts';
import { Book } from './book.ts';
import type { Dice } from './dice.ts';
import type { History } from './history.ts';
import { ABOUT_ALL, aboutRange, type Question } from './questions.ts';
import { createTraffic, type Traffic } from './traffic.ts';
import type { Process, World } from './world.ts';

const Account = z.object({ accountId: z.string() });
const Key = z.object({ apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });

/** Attempts of actions that an operator or a customer repeats until they work. */
const ATTEMPTS = 400;
const PAUSE_MS = 100;

/** One app: its credentials, its traffic, its batches, and the questions that are repeated about it. */
export interface Site {
  readonly secretKey: string;
  readonly book: Book;
  readonly traffic: Traffic;
  questions: readonly Question[];
  /** Its deletion has begun. */
  isGone: boolean;
  /** An answer about it was wrong; it is not compared any more. */
  isSpoiled: boolean;
}

/** Runs `work` on the running processes in turn, until it succeeds on one. */
export async function insist<T>(
  world: World,
  name: string,
  work: (process: Process) => Promise<T>,
): Promise<T> {
  let last: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const up = world.processes.filter(({ isUp }) => isUp);
    const process = up[attempt % Math.max(1, up.length)];
    try {
      if (process !== undefined) return await work(process);
    } catch (error) {
      last = error;
    }
    await sleep(PAUSE_MS);
  }
  throw new Error(`${name} did not work: ${String(last)}`);
}

/** Makes an account that may have many apps, and returns its key. */
export async function newKey(world: World): Promise<string> {
  const { accountId } = Account.parse(
    await insist(world, 'account create', async ({ life }) =>
      life?.admin('account', 'create', '--name', 'Chaos', '--plan', 'pro'),
    ),
  );
  const key = await insist(world, 'key create', async ({ life }) =>
    life?.admin('key', 'create', '--account', accountId),
  );
  return Key.parse(key).apiKey;
}

let port = 1_024;

export async function newSite(world: World, key: string, dice: Dice, latest: number): Promise<Site> {
  const { id, secretKey } = await insist(world, 'app create', async ({ life }) => {
    // One host, as the oracle knows it. The port differs, because an account has a host and port once.
    const domain = `${KNOWN_DOMAIN}:${port++}`;
    const response = await fetch(`${life?.url}/api/v1/apps`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Shop', domain }),
    });
    return App.parse(await response.json());
  });
  const book = new Book(appId(id), () => Date.now());
  const traffic = createTraffic(dice, latest);
  return { secretKey, book, traffic, questions: ABOUT_ALL, isGone: false, isSpoiled: false };
}

const STANDING = 32;

/** Adds one more range to the questions; the oldest ranges are dropped. */
export function askAboutMore(site: Site, dice: Dice): void {
  const limit = dice.weighted([
    [3, undefined],
    [1, dice.one([1, 3, 10_000])],
  ]);
  const [asked] = fc.sample(askedArbitrary, { seed: dice.whole(2 ** 31), numRuns: 1 });
  const ranged = site.questions.slice(ABOUT_ALL.length);
  const questions = [...ranged, ...aboutRange(site.traffic.range(), limit, asked)].slice(-STANDING);
  site.questions = [...ABOUT_ALL, ...questions];
}

/** Deletes the app, and expects every process to refuse questions about it. */
export async function deleteSite(world: World, site: Site, asker: Asker, history: History): Promise<void> {
  const { app } = site.book;
  site.isGone = true;
  history.happened(`app ${app} is deleted`);
  await insist(world, 'app delete', async ({ life }) => {
    try {
      await life?.admin('app', 'delete', '--yes', '--app', app);
    } catch (error) {
      // The previous attempt has worked, and its answer was lost.
      if (!String(error).includes('no app')) throw error;
    }
  });
  const [question] = ABOUT_ALL;
  for (const process of world.processes) {
    for (let attempt = 0; question !== undefined && process.isUp; attempt++) {
      if ((await asker.status(process, app, question)) === 403) break;
      if (attempt === ATTEMPTS) history.wrong(`app ${app} is deleted, and ${process.name} answers`, []);
      if (attempt === ATTEMPTS) break;
      await sleep(PAUSE_MS);
    }
  }
  history.counts.deletions += 1;
}
