import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import { Unavailable } from '../management-client.ts';
import { duration } from './progress.ts';

export type Send = (body: string) => Promise<unknown>;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_ASKED_MS = 30_000;

/**
 * Sends again while the service is away or overloaded, until it has given no answer for `patienceMs`. All
 * requests share this time. The first request is not repeated if nothing listens: the address may be wrong.
 */
export function patientSend(send: Send, patienceMs: number, say: (text: string) => void): Send {
  /** Since when every request has failed, by the monotonic clock. Null: the last one succeeded. */
  let failingSince: number | null = null;
  let hasAnswered = false;

  function note(error: Unavailable): void {
    failingSince ??= performance.now();
    if (performance.now() - failingSince < patienceMs) return;
    throw new CliError(
      `${error.message} It took nothing for ${duration(patienceMs)}. Run the same command again to go on from here.`,
      { cause: error },
    );
  }

  return async (body) => {
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await send(body);
        if (failingSince !== null) say('The service answers again.');
        failingSince = null;
        hasAnswered = true;
        return answer;
      } catch (error) {
        if (!(error instanceof Unavailable) || !(hasAnswered || error.hasAnswered)) throw error;
        if (failingSince === null) say(`${error.message} Trying again for ${duration(patienceMs)}.`);
        note(error);
        const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
        const asked = Math.min((error.retryAfterSeconds ?? 0) * 1000, LONGEST_ASKED_MS);
        await sleep(Math.max(pause, asked) * (0.75 + Math.random() / 2));
      }
    }
  };
}
