import { fill, heavyQuestion, heldBy } from '../test/faults/heavy.ts';
import { type Running, running, type Tenant } from '../test/faults/support.ts';
import { closedLoop, openLoop, type Sample, type Stream, statusesOf } from '../test/support/open-loop.ts';
import { percentile, rounded } from './statistics.ts';
import { table } from './table.ts';

/** The flooded app has BATCHES × 4,000 events. */
const BATCHES = 60;
const OTHERS = 4;
const KINDS = ['flood', 'other', 'health'] as const;
type Kind = (typeof KINDS)[number];

/**
 * Sends twice the load that the service can answer, in an open loop, from one key, with heavy questions that
 * were never asked before. Meanwhile other keys send a twentieth of it each, and the health endpoints are
 * polled.
 */
export async function benchOverload(seconds: number) {
  const service = await running();
  try {
    const flood = await service.newTenant();
    const others = await Promise.all(Array.from({ length: OTHERS }, () => service.newTenant()));
    await fill(service, flood.app, BATCHES);
    for (const { app } of others) await fill(service, app, 4);
    return await measured(service, flood, others, seconds);
  } finally {
    await service.remove();
  }
}

async function measured(service: Running, flood: Tenant, others: readonly Tenant[], seconds: number) {
  const stream = (kind: Kind, perSecond: number, path: () => string, key?: string): Stream<Kind> => ({
    kind,
    perSecond,
    ask: async () => (await service.ask(path(), key === undefined ? {} : { key })).status,
  });
  const heavy = (perSecond: number) => stream('flood', perSecond, () => heavyQuestion(flood.app), flood.key);
  await closedLoop(heavy(0), 8, 3_000);
  const capacity = await closedLoop(heavy(0), 8, 10_000);
  const pid = service.pid ?? 0;
  const before = heldBy(pid);
  const samples = await openLoop(
    [
      heavy(capacity * 2),
      ...others.map(({ app, key }) => stream('other', capacity / 20, () => heavyQuestion(app), key)),
      stream('health', 5, () => '/healthz'),
      stream('health', 5, () => '/readyz'),
    ],
    seconds * 1000,
  );
  const recoveryMs = await untilAnswered(heavy(0));
  const answered = samples.filter(({ kind, status }) => kind !== 'health' && status === 200).length / seconds;
  const record = {
    bench: 'overload',
    seconds,
    capacityPerSecond: rounded(capacity),
    answeredPerSecond: rounded(answered),
    share: rounded(answered / capacity),
    recoveryMs: rounded(recoveryMs),
    rssMiBBefore: rounded(before.rssMiB),
    rssMiBAfter: rounded(heldBy(pid).rssMiB),
    kinds: KINDS.map((kind) => summary(samples, kind)),
  };
  print(record);
  return { records: [record], exact: true };
}

/** The time from the load's end to the first 200. */
async function untilAnswered(stream: Stream): Promise<number> {
  const began = performance.now();
  while ((await stream.ask()) !== 200);
  return performance.now() - began;
}

function summary(samples: readonly Sample<Kind>[], kind: Kind) {
  const ms = (status: number, share: number): number =>
    rounded(
      percentile(
        samples
          .filter((sample) => sample.kind === kind && sample.status === status)
          .map((sample) => sample.ms),
        share,
      ),
    );
  return {
    kind,
    statuses: statusesOf(samples, kind),
    p50Ms: ms(200, 0.5),
    p99Ms: ms(200, 0.99),
    refusedP99Ms: ms(503, 0.99),
  };
}

function print({
  kinds,
  ...record
}: { readonly kinds: readonly ReturnType<typeof summary>[] } & object): void {
  for (const [name, value] of Object.entries(record)) console.log(`${name.padEnd(20)} ${value}`);
  const rows = kinds.map(({ kind, statuses, p50Ms, p99Ms, refusedP99Ms }) => [
    kind,
    JSON.stringify(statuses),
    String(p50Ms),
    String(p99Ms),
    String(refusedP99Ms),
  ]);
  console.log(`\n${table(['asked by', 'answers', '200 p50 ms', '200 p99 ms', '503 p99 ms'], rows)}`);
}
