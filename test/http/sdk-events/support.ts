import { randomUUID } from 'node:crypto';
import type { Answer, Ask, TestService } from '../support.ts';

export const PATH = '/sdk/v1/events';

/** Returns a session of one pageview, now. */
export const visit = (id = 'session-1', path = '/') => {
  const now = new Date().toISOString();
  return { id, visitorId: 'visitor-1', startedAt: now, events: [{ type: 'pageview', timestamp: now, path }] };
};

export const batchFor = (service: Pick<TestService, 'app' | 'secretKey'>, changes: object = {}): object => ({
  appId: service.app,
  secretKey: service.secretKey,
  batchId: randomUUID(),
  sessions: [visit()],
  ...changes,
});

export const post = (service: TestService, body: unknown, headers: Ask['headers'] = {}): Promise<Answer> =>
  service.ask(PATH, { method: 'POST', key: null, body, headers });
