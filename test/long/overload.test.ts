import { afterAll, beforeAll, expect, test } from 'vitest';
import { fill, heavyQuestion, heldBy } from '../faults/heavy.ts';
import { type Running, running, type Tenant } from '../faults/support.ts';
import { expectProblem } from '../http/support.ts';
import { closedLoop, openLoop, type Stream, statusesOf } from '../support/open-loop.ts';

/**
 * Short: this only shows that nothing breaks. `npm run bench -- overload` measures how much is answered, and
 * how fast.
 */
const LOAD_MS = 8_000;

let service: Running;
let flood: Tenant;
let others: Tenant[];

beforeAll(async () => {
  service = await running();
  flood = await service.newTenant();
  others = await Promise.all([service.newTenant(), service.newTenant(), service.newTenant()]);
  await fill(service, flood.app, 24);
  for (const other of others) await fill(service, other.app, 2);
});
afterAll(() => service?.remove());

const stream = <Kind extends string>(
  kind: Kind,
  perSecond: number,
  path: () => string,
  key?: string,
): Stream<Kind> => ({
  kind,
  perSecond,
  ask: async () => {
    const answer = await service.ask(path(), key === undefined ? {} : { key });
    // Either refused or a correct answer.
    if (answer.status === 503) expectProblem(answer, 'overloaded');
    else expect(answer.json).toBeDefined();
    return answer.status;
  },
});

test('at twice the capacity requests are refused or answered; other accounts and health checks are answered', async () => {
  const heavy = (perSecond: number) => stream('flood', perSecond, () => heavyQuestion(flood.app), flood.key);
  const capacity = await closedLoop(heavy(0), 8, 2_000);
  const { pid = 0 } = service;
  const before = heldBy(pid);
  const samples = await openLoop(
    [
      heavy(Math.max(20, capacity * 2)),
      ...others.map(({ app, key }) => stream('other', capacity / 10, () => heavyQuestion(app), key)),
      stream('health', 4, () => '/healthz'),
      stream('health', 4, () => '/readyz'),
    ],
    LOAD_MS,
  );
  const [floods, rest, health] = (['flood', 'other', 'health'] as const).map((kind) =>
    statusesOf(samples, kind),
  );
  expect(Object.keys(health ?? {})).toEqual(['200']);
  for (const statuses of [floods, rest])
    expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(statuses ?? {})));
  const served = (statuses: Record<number, number> = {}): number =>
    (statuses[200] ?? 0) / Object.values(statuses).reduce((sum, count) => sum + count, 0);
  expect(served(floods)).toBeGreaterThan(0);
  // The others ask far less than their fair share, so they are answered while the flood is refused.
  expect(served(rest)).toBeGreaterThan(0.9);
  expect(heldBy(pid).rssMiB - before.rssMiB).toBeLessThan(1_024);

  // Afterwards the service answers as before.
  await expect
    .poll(async () => (await service.ask(heavyQuestion(flood.app), { key: flood.key })).status)
    .toBe(200);
  expect(service.pid).toBe(pid);
});
