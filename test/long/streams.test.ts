import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { withService } from '../http/operations.ts';
import { AT_NOON, SAMPLE } from '../http/sample.ts';
import { expectProblem } from '../http/support.ts';
import { openStream } from '../support/event-stream.ts';

const service = withService({ ...AT_NOON, env: { PUBLIC_API_REQUESTS_PER_MINUTE: '3' } });

const viewsIn = (data: string | undefined): number => JSON.parse(data ?? '[]')[0]?.views ?? 0;

test('each answer counts as a request, and the next one waits for the next window', {
  timeout: 180_000,
}, async () => {
  const { key, app, ask } = await service().newTenant();
  const path = `/api/v1/sessions/pageviews?appId=${app}`;
  const record = () =>
    service().record(
      SAMPLE.map((session) => ({ ...session, id: randomUUID() })),
      app,
    );
  const { next, text, close } = await openStream(service().url, path, { key });
  expect((await next())?.data).toBe('[]');
  for (const views of [2, 4]) {
    await record();
    expect(viewsIn((await next())?.data)).toBe(views);
  }
  // The opening and two answers.
  expectProblem(await ask(path), 'rate_limited');
  for (let i = 0; i < 3; i++) await record();
  // The comment comes before the window ends.
  await expect.poll(text, { timeout: 30_000, interval: 500 }).toContain('\n:\n\n');
  expect(text().match(/^id: /gm)).toHaveLength(3);
  const newest = await next();
  expect(viewsIn(newest?.data)).toBe(10);
  const { headers, text: body } = await ask(path);
  expect([body, headers['x-ratelimit-remaining']]).toEqual([newest?.data, '1']);
  // If the answer was computed while events were being stored, its tag by version follows.
  const lastId = () =>
    text()
      .match(/^id: .*$/gm)
      ?.at(-1);
  await expect.poll(lastId).toBe(`id: ${headers['etag']}`);
  close();
});
