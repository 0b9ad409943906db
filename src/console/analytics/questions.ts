import { useEffect, useRef } from 'react';
import type { Loaded } from '../answers.ts';
import { ApiError } from '../api.ts';

/*
 * How the questions of the page stand. The mark at its top needs it: figures are live only if every question was
 * answered, and lately.
 */

type State = 'answered' | 'asked' | 'failed';

interface Question {
  readonly state: State;
  readonly since: number;
}

const questions = new Map<object, Question>();

/** How long the slowest question waits for its answer, in ms. */
export function longestWait(now: number): number {
  const waits = [...questions.values()].map(({ state, since }) => (state === 'asked' ? now - since : 0));
  return Math.max(0, ...waits);
}

export const hasFailed = (): boolean => [...questions.values()].some(({ state }) => state === 'failed');

/** A refusal is an answer, too: the range needs events that have expired, or the app is not the account's. */
export const isOutage = (error: unknown): boolean =>
  error !== null && !(error instanceof ApiError && error.status < 500 && error.status !== 429);

/** Tells how a question stands, as long as its panel is there. One that is not asked now does not count. */
export function useTold({ isLoading, error }: Loaded<unknown>, isAsked: boolean): void {
  const id = useRef<object>({}).current;
  const state = !isAsked ? 'answered' : isOutage(error) ? 'failed' : isLoading ? 'asked' : 'answered';
  useEffect(() => {
    questions.set(id, { state, since: performance.now() });
    return () => void questions.delete(id);
  }, [id, state]);
}
