import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../../src/cli/cli-error.ts';
import { recordLoad } from '../load-cases.ts';
import type { Recording } from '../recording.ts';
import { runsFor } from '../statistics.ts';
import { Tally } from '../tally.ts';
import type { Deployment } from './deployment.ts';
import { POLLED } from './questions.ts';
import type { Site } from './site.ts';

/** Shares of the keys' limit that are used where no rate is given. */
const SHARES = [0.25, 0.5, 0.8];
/** New events come so often, and four times in a short measurement. */
const TRICKLE_MS = 2_000;
/** Of the rate limit. */
const WINDOW_SECONDS = 60;

interface Poll {
  readonly key: string;
  readonly path: string;
  etag: string | null;
}

interface Rates {
  readonly seconds: number;
  readonly rates: readonly number[];
}

/** Returns the rates to poll at, which stay below the keys' limits, and notes those that are too low to decide with. */
export async function chooseRates(
  recording: Recording,
  deployment: Deployment,
  { seconds, rates }: Rates,
): Promise<readonly number[]> {
  const most = (await deployment.requestsPerMinute(0)) / WINDOW_SECONDS;
  const chosen = rates.length > 0 ? rates : SHARES.map((share) => Math.round(most * share * 100) / 100);
  const over = chosen.find((rate) => rate > most);
  if (over !== undefined) {
    throw new CliError(
      `--rate: the keys allow ${most.toFixed(1)} requests/s together, and not ${over}. Add keys of the same account with ` +
        '--key, or raise PUBLIC_API_REQUESTS_PER_MINUTE of the service.',
    );
  }
  noteTooFew(recording, chosen, seconds);
  return chosen;
}

/**
 * Polls all questions with ETags in an open loop, at growing rates: first without new events, when nothing is computed, then
 * while events arrive.
 */
export async function pollAll(recording: Recording, site: Site, { seconds, rates }: Rates): Promise<void> {
  const { deployment } = site;
  const polls = POLLED.flatMap((path) =>
    deployment.keys.map((key): Poll => ({ key, path: `/api/v1/${path}?appId=${site.id}`, etag: null })),
  );
  recording.progress.begin('polls', 2 * rates.length + 1);
  recording.progress.step('first answers');
  for (const poll of polls) await warm(deployment, poll);
  for (const trickles of [false, true]) {
    for (const rate of rates) {
      const mix = trickles ? 'polling while events arrive' : 'polling without new events';
      recording.progress.step(`${mix}, ${rate} requests/s for ${seconds} s`);
      await pollAt(recording, site, polls, { rate, seconds, trickles, name: `${mix}, at ${rate} /s` });
    }
  }
}

/** Says which loads give too few answers to decide with. */
function noteTooFew(recording: Recording, rates: readonly number[], seconds: number): void {
  const needed = runsFor(0.99);
  const few = rates.filter((rate) => rate * seconds < needed);
  if (few.length === 0) return;
  const rate = Math.ceil(needed / seconds);
  recording.note(
    `Polling at ${few.join(', ')} requests/s for ${seconds} s gives fewer than the ${needed} answers that a p99 needs, so these loads have none. ` +
      `From ${rate} requests/s on it has one: add keys of the account (--key), raise PUBLIC_API_REQUESTS_PER_MINUTE, or measure longer.`,
  );
}

async function warm(deployment: Deployment, poll: Poll): Promise<void> {
  const answer = await deployment.patiently(poll.path, { key: poll.key });
  if (answer.status !== 200)
    throw new CliError(`--key: a key may not read the app of the bench (status ${answer.status}).`);
  poll.etag = String(answer.headers['etag']);
}

interface Load {
  readonly rate: number;
  readonly seconds: number;
  readonly trickles: boolean;
  readonly name: string;
}

async function pollAt(recording: Recording, site: Site, polls: readonly Poll[], load: Load): Promise<void> {
  const { deployment } = site;
  const { rate, seconds, trickles, name } = load;
  const perKey = Math.ceil((rate * Math.min(seconds, WINDOW_SECONDS)) / deployment.keys.length);
  await Promise.all(deployment.keys.map((key) => deployment.roomFor(key, perKey)));
  let storing: Promise<unknown> = Promise.resolve();
  const trickle = setInterval(
    () => {
      if (trickles) storing = storing.then(() => site.storeNew(2));
    },
    Math.min(TRICKLE_MS, (seconds * 1000) / 4),
  );
  try {
    const outcome = await openLoop(deployment, polls, { rate, seconds, signal: recording.signal });
    const refused = Object.entries(outcome.statuses).filter(
      ([status]) => status !== '200' && status !== '304',
    );
    for (const [status, count] of refused) recording.note(`${name}: ${count} answers with status ${status}.`);
    const labels = { rate, keys: deployment.keys.length, trickles };
    recordLoad(recording, { bench: 'http', name, labels }, rate, outcome);
    const failed = refused.reduce((sum, [, count]) => sum + count, 0);
    const share = [(failed * 100) / Object.values(outcome.statuses).reduce((sum, count) => sum + count, 0)];
    recording.record({ bench: 'http', name, labels, measure: 'neither 200 nor 304', unit: '%', runs: share });
  } finally {
    clearInterval(trickle);
    await storing;
  }
}

/** Sends polls when they are due. Latency counts from then, also if the connection was not free. Status 0: no answer. */
async function openLoop(
  deployment: Deployment,
  polls: readonly Poll[],
  {
    rate,
    seconds,
    signal,
  }: { readonly rate: number; readonly seconds: number; readonly signal: AbortSignal },
) {
  const tally = new Tally(seconds * 1000);
  const began = performance.now();
  const sent: Promise<void>[] = [];
  for (let i = 0; i < rate * seconds; i++) {
    const due = began + (i * 1000) / rate;
    await sleep(Math.max(0, due - performance.now()), undefined, { signal });
    const poll = polls[i % polls.length] as Poll;
    const answered = deployment.send(poll.path, { key: poll.key, etag: poll.etag }).then(
      ({ status, headers }) => {
        if (status === 200) poll.etag = String(headers['etag']);
        return status;
      },
      () => 0,
    );
    sent.push(answered.then((status) => tally.note(performance.now() - due, status)));
  }
  await Promise.all(sent);
  return tally.outcome();
}
