import { expect, test } from 'vitest';
import { openStream } from '../support/event-stream.ts';
import { AT_NOON } from './sample.ts';
import { testService } from './support.ts';

test('a service that stops ends its streams, with a last event', async () => {
  const { url, key, app, close } = await testService(AT_NOON);
  const open = () => openStream(url, `/api/v1/sessions/pageviews?appId=${app}`, { key });
  const streams = await Promise.all([open(), open()]);
  for (const { next } of streams) expect((await next())?.event).toBe('message');
  const ended = Promise.all(streams.map(async ({ next }) => [await next(), await next()]));
  await close();
  for (const [last, nothing] of await ended) {
    expect(last?.event).toBe('end');
    expect(JSON.parse(last?.data ?? '')).toMatchObject({ status: 503, code: 'overloaded' });
    expect(nothing).toBeNull();
  }
});
