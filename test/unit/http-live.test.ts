import { EventEmitter } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { accountId, appId, keyId } from '../../src/domain/ids.ts';
import type { Computed } from '../../src/http/answer/kept.ts';
import { inMemory } from '../../src/http/forms/bodies.ts';
import type { Counted } from '../../src/http/gate/rate-limit.ts';
import type { LiveQuestion } from '../../src/http/live/channel.ts';
import { LiveHub } from '../../src/http/live/hub.ts';
import { openStream } from '../support/event-stream.ts';

const APP = appId('6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90');
const ROOM: Counted = { limit: 120, remaining: 1, leftMs: 60_000, passes: true };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Site {
  readonly url: string;
  readonly hub: LiveHub;
  /** How often the question was asked, and its answers computed. */
  readonly asked: { questions: number; answers: number; looks: number };
  /** Commits events: the answer is another one. */
  commit(): void;
}

/** A server with one question. Its answer is the number of commits, and `padding` bytes. */
async function site({
  count = async () => ROOM,
  confirm = async () => undefined,
  padding = 0,
  tagOf = (tag) => tag,
}: {
  count?: () => Promise<Counted>;
  confirm?: () => Promise<void>;
  padding?: number;
  /** The tag of an answer that is computed now, by that of its version. */
  tagOf?: (tag: string) => string;
} = {}): Promise<Site> {
  let commits = 1;
  const asked = { questions: 0, answers: 0, looks: 0 };
  const hub = new LiveHub(async (apps) => {
    asked.looks++;
    return new Map(apps.map((app) => [app, commits]));
  });
  const question: LiveQuestion = {
    name: 'question',
    holder: '00000000-0000-4000-8000-00000000000a',
    app: APP,
    key: keyId('key'),
    window: () => '',
    ask: async () => {
      asked.questions++;
      const held = { tag: `tag${commits}`, asOf: null, age: null };
      const json = inMemory(Buffer.from(JSON.stringify([commits, 'x'.repeat(padding)])));
      return {
        ...held,
        result: async (): Promise<Computed> => {
          asked.answers++;
          return { ...held, tag: tagOf(held.tag), json };
        },
      };
    },
  };
  const open = async (res: ServerResponse): Promise<void> => {
    hub.admit(question.holder, res);
    const askedAt = performance.now();
    const versioned = await question.ask();
    const computed = await versioned.result();
    hub.open(question, { res, requestId: 'request', count, confirm }, { versioned, askedAt, computed });
  };
  const server: Server = createServer((_req, res) => void open(res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    hub.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, hub, asked, commit: () => commits++ };
}

const numberOf = (data: string | undefined): number => JSON.parse(data ?? '[0]')[0];

test('equal questions are asked once, whatever the number of streams', async () => {
  const { url, hub, asked, commit } = await site();
  const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(url, '/')));
  for (const { next } of streams) expect(numberOf((await next())?.data)).toBe(1);
  expect(hub.stats).toEqual({ open: 50, answers: 50 });
  const before = { ...asked };
  commit();
  for (const { next } of streams) expect(numberOf((await next())?.data)).toBe(2);
  // Once for those that are due at the same time. The service's cache spares even that.
  expect(asked.answers - before.answers).toBeLessThan(10);
  // The first look after a stream was opened asks too.
  expect(asked.questions - before.questions).toBeLessThanOrEqual(2);
  for (const { close } of streams) close();
  await expect.poll(() => hub.stats.open).toBe(0);
});

test('an app at rest is not asked about, and without streams nothing is looked at', async () => {
  const { url, hub, asked } = await site();
  const { next, close } = await openStream(url, '/');
  await next();
  const looks = asked.looks;
  await expect.poll(() => asked.looks).toBeGreaterThan(looks + 3);
  // The opening and the first look.
  expect(asked.questions).toBe(2);
  close();
  await expect.poll(() => hub.stats.open).toBe(0);
  const { looks: last } = asked;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(asked.looks).toBe(last);
});

test('the tag of its version follows an answer that was computed while events were being stored', async () => {
  let left = 2;
  let counted = 0;
  const count = async (): Promise<Counted> => {
    counted++;
    return ROOM;
  };
  const tagOf = (tag: string): string => (tag === 'tag2' && left-- > 0 ? 'bytes' : tag);
  const { url, commit, hub } = await site({ count, tagOf });
  const { next, text } = await openStream(url, '/');
  await next();
  commit();
  expect(await next()).toMatchObject({ id: '"bytes"' });
  await expect.poll(text).toContain('id: "tag2"\n\n');
  // It is one answer, and the next one was counted when it was first looked for.
  expect(text().match(/^data: /gm)).toHaveLength(2);
  expect([hub.stats.answers, counted]).toEqual([2, 2]);
  commit();
  expect(numberOf((await next())?.data)).toBe(3);
  expect(counted).toBe(2);
});

test('a used-up window delays the next answer, which is then the newest', async () => {
  let left = 1;
  const count = async (): Promise<Counted> => {
    left--;
    return { ...ROOM, passes: left >= 0, leftMs: 200 };
  };
  const { url, commit, asked } = await site({ count });
  const { next } = await openStream(url, '/');
  await next();
  commit();
  expect(numberOf((await next())?.data)).toBe(2);
  const computed = asked.answers;
  commit();
  await expect.poll(() => left).toBeLessThan(-1);
  // Nothing is computed for a window without room.
  expect(asked.answers).toBe(computed);
  commit();
  left = 1;
  expect(numberOf((await next())?.data)).toBeGreaterThanOrEqual(3);
  await expect.poll(() => asked.answers).toBeGreaterThan(computed);
});

test('a reader who stops reading gets the newest answer later, and none of those between', async () => {
  const { url, commit, asked, hub } = await site({ padding: 16 * 1024 ** 2 });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  closing.push(() => void socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  socket.pause();
  await expect.poll(() => hub.stats.open).toBe(1);
  for (let i = 0; i < 4; i++) {
    commit();
    const questions = asked.questions;
    await expect.poll(() => asked.questions, { timeout: 20_000 }).toBeGreaterThan(questions);
  }
  expect(asked.answers).toBe(1);
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (piece: string) => {
    received += piece.replaceAll('x', '');
  });
  socket.resume();
  const answers = (): string[] => received.match(/\[\d+,/g) ?? [];
  await expect.poll(() => answers().length).toBe(2);
  expect(answers()).toEqual(['[1,', '[5,']);
});

test('a check that fails because the store is away ends no stream', async () => {
  let code: 'store_unavailable' | 'app_access_denied' = 'store_unavailable';
  let checks = 0;
  const confirm = async (): Promise<void> => {
    checks++;
    throw new AppError(code, 'Not now.', { retryAfterSeconds: 1 });
  };
  const { url, commit } = await site({ confirm });
  const { next } = await openStream(url, '/');
  await next();
  await expect.poll(() => checks).toBeGreaterThan(1);
  commit();
  expect(numberOf((await next())?.data)).toBe(2);
  code = 'app_access_denied';
  const last = await next();
  expect(JSON.parse(last?.data ?? '')).toMatchObject({ code, requestId: 'request', status: 403 });
  expect(await next()).toBeNull();
});

test('an account has a thousand streams at most, and leaves room for others', async () => {
  const { hub } = await site();
  const [one, two] = ['a', 'b'].map((end) => accountId(`00000000-0000-4000-8000-00000000000${end}`));
  if (one === undefined || two === undefined) throw new Error('two accounts');
  const responses = Array.from({ length: 1_000 }, () => new EventEmitter() as ServerResponse);
  for (const res of responses) hub.admit(one, res);
  expect(() => hub.admit(one, new EventEmitter() as ServerResponse)).toThrow('Too many streams are open.');
  hub.admit(two, new EventEmitter() as ServerResponse);
  responses[0]?.emit('close');
  hub.admit(one, new EventEmitter() as ServerResponse);
  expect(hub.stats.open).toBe(1_001);
});
