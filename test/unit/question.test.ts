import { expect, test } from 'vitest';
import { asQuestion, currentQuestion, forOthersToo } from '../../src/domain/caller.ts';

const LATE = { code: 'overloaded', retryAfterSeconds: 5 };

/** Blocks the whole process. */
const pause = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('a result after the deadline is not used, even if no timer could fire before', async () => {
  const asking = asQuestion(async () => {
    pause(30);
    return 'read too late';
  }, 20);
  await expect(asking).rejects.toMatchObject(LATE);
});

test('a part of a question has no time limit of its own', async () => {
  const asking = asQuestion(async (question) => {
    await asQuestion(async (part) => expect(part).toBe(question), 60_000);
    return asQuestion(() => new Promise(() => undefined), 60_000);
  }, 20);
  await expect(asking).rejects.toMatchObject(LATE);
});

test('work for later callers does not end with the question', async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let work = Promise.resolve('not begun');
  await asQuestion(async (question) => {
    work = forOthersToo(async () => {
      await ended;
      expect(question.signal.aborted).toBe(true);
      currentQuestion()?.signal.throwIfAborted();
      return 'done';
    });
  });
  end();
  expect(await work).toBe('done');
});

test('work for later callers is let in if it is a part of a question', async () => {
  await asQuestion((question) =>
    forOthersToo(async () => {
      expect(currentQuestion()).toBeDefined();
      expect(currentQuestion()).not.toBe(question);
    }),
  );
  await forOthersToo(async () => expect(currentQuestion()).toBeUndefined());
});

test('nothing can begin in a question that has ended', async () => {
  let begin = (): Promise<unknown> => Promise.resolve();
  const answer = await asQuestion(async (question) => {
    begin = async () => question.signal.throwIfAborted();
    return 'done';
  });
  expect(answer).toBe('done');
  await expect(begin()).rejects.toThrow();
});
