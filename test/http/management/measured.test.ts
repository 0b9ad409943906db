import { afterEach, expect, test } from 'vitest';
import { SECRET } from '../../faults/support.ts';
import { bridgeProcess } from '../../support/bridge-process.ts';
import { faultProxy } from '../../support/fault-proxy.ts';
import { type TestService, testService } from '../support.ts';

/* Gauges that can be absent, or are measured by a job, not by the scrape. */

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function started(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const service = await testService({ env: { SEAL_INTERVAL_SECONDS: '1', ...env } });
  open.push(service.close);
  return service;
}

/** Returns the samples of a gauge by the value of its only label. */
async function gauge({ managementUrl }: TestService, name: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text();
  const samples = [...text.matchAll(new RegExp(`^${name}\\{\\w+="([^"]+)"\\} (\\S+)$`, 'gm'))];
  return Object.fromEntries(samples.map(([, label = '', value]) => [label, Number(value)]));
}

const FREE = 'analytics_disk_free_bytes';
const SIZE = 'analytics_disk_size_bytes';
const LATE = 'analytics_sealing_late_events';

test('without Redis, its state is absent: a 0 would raise an alert', async () => {
  const { managementUrl } = await started();
  const text = await (await fetch(`${managementUrl}/metrics`)).text();
  expect(text).toContain('# TYPE analytics_redis_up gauge');
  expect(text).not.toMatch(/^analytics_redis_up/m);
});

test('the disk of the data folder, and late events of all apps by kind', async () => {
  const service = await started();
  await expect.poll(() => gauge(service, LATE)).toEqual({ page: 0, session: 0 });
  const [free, size] = [await gauge(service, FREE), await gauge(service, SIZE)];
  expect(Object.keys(size)).toEqual(
    service.db.engine === 'embedded' ? ['data_dir'] : ['data_dir', 'clickhouse:default'],
  );
  expect(free['data_dir']).toBeGreaterThan(0);
  expect(free['data_dir']).toBeLessThanOrEqual(size['data_dir'] ?? 0);

  const visit = (hours: number) => ({
    startedAt: new Date(service.clock.now().getTime() - hours * 3_600_000).toISOString(),
    events: [{ type: 'pageview' as const, path: '/' }],
  });
  const apps = [service.app, (await service.newTenant()).app];
  for (const app of apps) await service.record([visit(50), visit(80)], app);
  await service.sealer.run();
  for (const app of apps) await service.record([visit(60)], app);
  await expect.poll(() => gauge(service, LATE)).toEqual({ page: 2, session: 2 });
});

test('the disks of a server, whose last values stay while it is away', async () => {
  const bridge = await bridgeProcess();
  open.push(bridge.close);
  const proxy = await faultProxy(bridge.url);
  open.push(proxy.close);
  const service = await started({
    ...bridge.settings,
    CLICKHOUSE_URL: proxy.url,
    MANAGEMENT_JWT_SECRET: SECRET,
  });
  await expect
    .poll(async () => Object.keys(await gauge(service, SIZE)))
    .toEqual(['data_dir', 'clickhouse:default']);
  const size = await gauge(service, SIZE);
  const { 'clickhouse:default': free = 0 } = await gauge(service, FREE);
  expect(free).toBeGreaterThan(0);
  expect(free).toBeLessThanOrEqual(size['clickhouse:default'] ?? 0);
  const failed = (): unknown[] =>
    service
      .logged()
      .filter(({ name, level }) => level === 'warn' && name === 'measure disks, late events and backups');
  await proxy.set('refuse');
  await expect.poll(failed).not.toEqual([]);
  expect(await gauge(service, SIZE)).toEqual(size);
  await proxy.set('pass');
});
