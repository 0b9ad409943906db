import { expect, test } from 'vitest';
import { asQuestion, currentQuestion, forOthersToo } from '../../src/domain/caller.ts';

const LATE = { code: 'overloaded', retryAfterSeconds: 5 };

/** The whole process stands still. */
const pause = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('what is read after the end is not used, though no timer could fire before', async () => {
  const asking = asQuestion(async () => {
    pause(30);
    return 'read too late';
  }, 20);
  await expect(asking).rejects.toMatchObject(LATE);
});

test('a part of a question has no time of its own', async () => {
  const asking = asQuestion(async (question) => {
    await asQuestion(async (part) => expect(part).toBe(question), 60_000);
    return asQuestion(() => new Promise(() => undefined), 60_000);
  }, 20);
  await expect(asking).rejects.toMatchObject(LATE);
});

test('what others will use does not end with the question', async () => {
  await asQuestion(() => forOthersToo(async () => expect(currentQuestion()).toBeUndefined()));
});

test('nothing can be begun in a question that is over', async () => {
  let begin = (): Promise<unknown> => Promise.resolve();
  const answer = await asQuestion(async (question) => {
    begin = async () => question.signal.throwIfAborted();
    return 'done';
  });
  expect(answer).toBe('done');
  await expect(begin()).rejects.toThrow();
});
