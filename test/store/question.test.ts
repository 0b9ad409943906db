import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { asQuestion, onBehalfOf } from '../../src/domain/caller.ts';
import { onEachBackend } from '../support/backends.ts';

/** Takes minutes if it is not cancelled. */
const ENDLESS: Query<{ sum: number }> = {
  name: 'endless',
  sql: sql`SELECT toFloat64(sum(sipHash64(number))) AS sum FROM numbers(1000000000000)`,
  row: z.object({ sum: z.number() }),
};
const RUNNING: Query<{ statements: number }> = {
  name: 'running',
  sql: sql`SELECT count() AS statements FROM system.processes WHERE query LIKE '%1000000000000)%' AND query NOT LIKE '%system.processes%'`,
  row: z.object({ statements: z.number() }),
};

onEachBackend((on) => {
  const running = async (): Promise<number> =>
    (await on.db.queryOne(RUNNING, {}, { lane: 'health' })).statements;
  const begun = () => expect.poll(running).toBeGreaterThan(0);
  const over = () => expect.poll(running).toBe(0);

  test('a question ends at its deadline, whatever the number of its statements, and none of them goes on', async () => {
    const asking = asQuestion(async () => {
      for (;;) await Promise.all(Array.from({ length: 6 }, () => on.db.query(ENDLESS)));
    }, 10_000);
    const refused = expect(asking).rejects.toMatchObject({ code: 'overloaded' });
    await begun();
    await refused;
    await over();
    // No new statement begins either.
    await sleep(500);
    expect(await running()).toBe(0);
  });

  test('a question ends with its caller', async () => {
    const gone = new AbortController();
    const asking = onBehalfOf({ key: 'one', signal: gone.signal }, () =>
      asQuestion(() => on.db.query(ENDLESS), 10_000),
    );
    const refused = expect(asking).rejects.toBeDefined();
    await begun();
    gone.abort();
    await refused;
    await over();
  });
});
