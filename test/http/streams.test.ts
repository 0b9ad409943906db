import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type EventStream, openStream } from '../support/event-stream.ts';
import { questionPath } from '../support/questions.ts';
import { ABOUT_APP, withService } from './operations.ts';
import { AT_NOON, SAMPLE } from './sample.ts';
import { endpointOf, expectProblem, type Tenant } from './support.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));

const opened: EventStream[] = [];
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});

type Asker = Pick<Tenant, 'key' | 'app'>;

async function stream(
  { key, app }: Asker,
  { operationId = 'listPageviews', query = '', headers = {} } = {},
): Promise<EventStream> {
  const path = `${questionPath(endpointOf(operationId), app)}${query}`;
  const open = await openStream(service().url, path, { key, headers });
  opened.push(open);
  return open;
}

const newSessions = () => SAMPLE.map((session) => ({ ...session, id: randomUUID() }));
const codeOf = (data: string): string => JSON.parse(data).code;

describe('a stream', () => {
  test.each(ABOUT_APP)('%s: starts with the answer that a GET gives, under its ETag', async (operationId) => {
    const tenant = service();
    const { status, headers, next } = await stream(tenant, { operationId });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-ratelimit-limit': '120',
    });
    const first = await next();
    const answer = await tenant.ask(questionPath(endpointOf(operationId), tenant.app));
    expect(first).toEqual({ event: 'message', id: answer.headers['etag'], data: answer.text });
    expect(headers['x-data-as-of']).toBe(answer.headers['x-data-as-of']);
  });

  test('sends the new answer after an event, and each answer once', async () => {
    const tenant = await service().newTenant();
    const { next } = await stream(tenant);
    expect((await next())?.data).toBe('[]');
    await service().record(SAMPLE, tenant.app);
    const second = await next();
    await service().record(newSessions(), tenant.app);
    const third = await next();
    const answer = await tenant.ask(`/api/v1/sessions/pageviews?appId=${tenant.app}`);
    expect(third).toMatchObject({ id: answer.headers['etag'], data: answer.text });
    expect(JSON.parse(second?.data ?? '')[0]).toMatchObject({ path: '/', views: 2 });
    expect(JSON.parse(third?.data ?? '')[0]).toMatchObject({ path: '/', views: 4 });
  });

  test('resumes after Last-Event-ID: nothing is sent that the caller has', async () => {
    const tenant = await service().newTenant();
    await service().record(SAMPLE, tenant.app);
    const answer = await tenant.ask(`/api/v1/sessions/pageviews?appId=${tenant.app}`);
    const resumed = await stream(tenant, { headers: { 'Last-Event-ID': answer.headers['etag'] ?? '' } });
    await service().record(newSessions(), tenant.app);
    const next = await resumed.next();
    expect(JSON.parse(next?.data ?? '')[0]).toMatchObject({ views: 4 });
    const other = await stream(tenant, { headers: { 'Last-Event-ID': '"of another answer"' } });
    expect(await other.next()).toEqual(next);
  });

  test('does not repeat bytes that only have another tag', async () => {
    const tenant = await service().newTenant();
    await service().record(SAMPLE, tenant.app);
    // The second session of the sample lies in the same hour of the range, and outside of it.
    const { next, text } = await stream(tenant, { query: '&to=2026-11-19T22:00:30Z' });
    const first = await next();
    const later = { type: 'pageview' as const, timestamp: '2026-11-19T22:00:40.000Z', path: '/later' };
    const [, session] = SAMPLE;
    await service().record([{ ...session, events: [later] }], tenant.app);
    const ids = (): string[] => text().match(/^id: .*$/gm) ?? [];
    await expect.poll(() => ids().length).toBe(2);
    expect(text().match(/^data: \[/gm)).toHaveLength(1);
    const early = { ...later, timestamp: '2026-11-19T22:00:20.000Z', path: '/early' };
    await service().record([{ ...session, events: [early] }], tenant.app);
    const second = await next();
    expect([first, second].map((event) => JSON.parse(event?.data ?? '').length)).toEqual([2, 3]);
    // The opening and one answer: the tag alone cost nothing.
    const { headers } = await tenant.ask('/api/v1/apps');
    expect(headers['x-ratelimit-remaining']).toBe('117');
  });

  test('is chosen by name only', async () => {
    const path = `/api/v1/sessions/pageviews?appId=${service().app}`;
    for (const accept of [
      '*/*',
      'text/*',
      'application/json, text/event-stream',
      'text/event-stream, text/csv',
      'application/json, text/event-stream;q=0.5',
    ]) {
      const { headers } = await service().ask(path, { headers: { Accept: accept } });
      expect(headers['content-type']).not.toBe('text/event-stream');
    }
    const { headers } = await stream(service(), { headers: { Accept: 'text/event-stream, */*;q=0.1' } });
    expect(headers['content-type']).toBe('text/event-stream');
    const apps = await service().ask('/api/v1/apps', { headers: { Accept: 'text/event-stream' } });
    expect(apps.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('is refused like any other request', async () => {
    const headers = { Accept: 'text/event-stream' };
    const path = '/api/v1/sessions/pageviews';
    expectProblem(await service().ask(`${path}?appId=shop`, { headers }), 'validation_failed');
    expectProblem(await service().ask(`${path}?appId=${randomUUID()}`, { headers }), 'app_access_denied');
    expectProblem(
      await service().ask(`${path}?appId=${service().app}`, { key: null, headers }),
      'unauthorized',
    );
  });
});

describe('the last event', () => {
  /** Opens a stream, reads its first answer, ends it by `change`, and returns the code of the last event. */
  async function endedBy(asker: Asker, change: () => Promise<unknown>): Promise<string> {
    const { next } = await stream(asker);
    expect((await next())?.event).toBe('message');
    await change();
    const last = await next();
    expect([last?.event, await next()]).toEqual(['end', null]);
    return codeOf(last?.data ?? '');
  }

  test('after the key was revoked', async () => {
    const tenant = await service().newTenant();
    const [key] = await service().metadata.listKeys(tenant.account);
    if (key === undefined) throw new Error('no key');
    expect(await endedBy(tenant, () => service().metadata.revokeKey(key.keyId))).toBe('unauthorized');
  });

  test('after the app was deleted', async () => {
    const tenant = await service().newTenant();
    expect(await endedBy(tenant, () => service().metadata.deleteApp(tenant.app))).toBe('app_access_denied');
  });

  test('after the share was withdrawn', async () => {
    const { app } = await service().newTenant();
    const { account, key } = await service().newAccount();
    await service().metadata.shareApp(app, account);
    const withdrawn = endedBy({ app, key }, () => service().metadata.unshareApp(app, account));
    expect(await withdrawn).toBe('app_access_denied');
  });

  test('after the plan was suspended', async () => {
    const tenant = await service().newTenant();
    const suspended = endedBy(tenant, () => service().metadata.setPlan(tenant.account, 'suspended'));
    expect(await suspended).toBe('plan_blocked');
  });
});
