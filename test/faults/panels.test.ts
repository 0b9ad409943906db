import { afterAll, beforeAll, expect, test } from 'vitest';
import { parametersOf } from '../../src/endpoints/endpoint.ts';
import { QUESTIONS, questionPath } from '../support/questions.ts';
import { fill } from './heavy.ts';
import { type App, type Running, running, type Tenant } from './support.ts';

const APPS = 5;
const IN_FLIGHT = 60;

let service: Running;
let tenant: Tenant;
let other: Tenant;
let apps: App[];

beforeAll(async () => {
  service = await running();
  tenant = await service.newTenant();
  other = await service.newTenant();
  apps = [tenant.app];
  while (apps.length < APPS) apps.push(await service.newApp(tenant.key));
  for (const app of [...apps, other.app]) await fill(service, app, 4);
});
afterAll(() => service?.remove());

/** Returns all questions of a page about the app, about a new range. */
let pages = 0;
function pageOf({ id }: App): string[] {
  const from = new Date(Date.now() - 25 * 86_400_000 + pages++ * 1_001).toISOString();
  const panels = QUESTIONS.map((question) => {
    const takesRange = 'from' in parametersOf(question.query).shape;
    return `${questionPath(question, id)}${takesRange ? `&from=${from}` : ''}`;
  });
  return [...panels, `/api/v1/sessions/overview/kpis?appId=${id}`];
}

test('a page with every question about five apps at once is answered in full', async () => {
  for (let time = 0; time < 2; time++) {
    const paths = apps.flatMap(pageOf);
    expect(paths).toHaveLength(APPS * (QUESTIONS.length + 1));
    const began = performance.now();
    const answers = await Promise.all(paths.map((path) => service.ask(path, { key: tenant.key })));
    // A question that waits for 20 s is refused. On a very slow machine the last ones do.
    const refused = performance.now() - began > 20_000 ? [503] : [];
    for (const { status } of answers) expect([200, ...refused]).toContain(status);
  }
});

test('while one key keeps 60 questions in flight, another key does not wait behind them', async () => {
  let isOver = false;
  let answered = 0;
  const paths: string[] = [];
  const flood = Array.from({ length: IN_FLIGHT }, async () => {
    while (!isOver) {
      if (paths.length === 0) paths.push(...apps.flatMap(pageOf).filter((path) => path.includes('from=')));
      const { status } = await service.ask(paths.pop() ?? '', { key: tenant.key });
      // A queue that is long for some time is refused, and asked again here.
      expect([200, 503]).toContain(status);
      if (status === 200) answered++;
    }
  });
  const servedBefore: number[] = [];
  await expect.poll(() => answered).toBeGreaterThan(5);
  for (let i = 0; i < 10; i++) {
    const before = answered;
    const path = `/api/v1/sessions/pageviews?appId=${other.app.id}&limit=${i + 1}`;
    expect((await service.ask(path, { key: other.key })).status).toBe(200);
    servedBefore.push(answered - before);
  }
  isOver = true;
  await Promise.all(flood);
  // Questions that were being computed, and one for each turn that it waited for a place. Not the queue of 50
  // and more. A busy machine may hold up a single one.
  const middle = servedBefore.toSorted((a, b) => a - b)[servedBefore.length / 2];
  expect(middle).toBeLessThanOrEqual(24);
  expect(Math.max(...servedBefore)).toBeLessThan(50);
});
