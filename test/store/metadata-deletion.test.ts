import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { commitEvents } from '../support/ledger.ts';
import { type MetadataBench, metadataBench, shop } from '../support/metadata.ts';

let bench: MetadataBench;

beforeAll(async () => {
  bench = await metadataBench();
});
afterAll(() => bench.close());

describe('deleting an app', () => {
  const addEvents = async (app: AppId): Promise<void> => {
    const at = '1763622960.250';
    const event = {
      app_id: app,
      timestamp: at,
      started_at: at,
      session_id: 's1',
      type: 'pageview',
      path: '/',
    };
    await bench.store.db.insert('events', [{ ...event, has_context: 1, visitor_id: 'v1' }, event]);
    await commitEvents(bench.store.db, [app]);
  };

  /** Returns the app's rows per table; tables without any are left out. */
  const rowsOf = async (app: AppId): Promise<Record<string, number>> => {
    const { db } = bench.store;
    const tables = await db.query({
      name: 'tables',
      sql: sql`SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase() AND name = 'app_id'`,
      row: z.object({ table: z.string() }),
    });
    const rows: Record<string, number> = {};
    for (const { table } of tables) {
      if (table.endsWith('_from_events')) continue;
      const statement = sql`SELECT count() AS rows FROM ${identifier(table)} WHERE app_id = {app:UUID}`;
      const count = await db.queryOne(
        { name: table, sql: statement, row: z.object({ rows: z.int() }) },
        { app },
      );
      if (count.rows > 0) rows[table] = count.rows;
    }
    return rows;
  };

  test('ends it at once and deletes its rows from every table, and no others', async () => {
    const { metadata, wait } = bench;
    const { principal: owner, apiKey } = await bench.account();
    const { principal: guest } = await bench.account();
    const doomed = await metadata.createApp(owner, shop('https://doomed.example'));
    const kept = await metadata.createApp(owner, shop('https://kept.example'));
    await metadata.shareApp(doomed.id, guest.accountId);
    await metadata.rotateSecret(kept.id, { overlapMs: 0 });
    const link = { name: 'Board', segment: 'country==IR', origins: [], expiresAt: null };
    const ended = await metadata.createLink(doomed.id, link);
    const { token } = await metadata.createLink(kept.id, link);
    const other = bench.another();
    expect(await other.canRead(guest.accountId, doomed.id)).toBe(true);
    await addEvents(doomed.id);
    await addEvents(kept.id);
    // A merge may remove the replaced secret.
    const rowsOfKept = async () => ({ ...(await rowsOf(kept.id)), app_secrets: 0 });
    const keptRows = await rowsOfKept();
    expect(await rowsOf(doomed.id)).toMatchObject({
      events: 2,
      sessions: 1,
      traffic: 4,
      ledger: 2,
      app_shares: 1,
      app_links: 1,
    });

    await metadata.deleteApp(doomed.id);

    expect(await rowsOf(doomed.id)).toEqual({ deleted_apps: 1 });
    expect(await rowsOfKept()).toEqual(keptRows);
    expect(await metadata.authenticateApp(doomed.id, doomed.secretKey)).toBeNull();
    expect(await metadata.canRead(owner.accountId, doomed.id)).toBe(false);
    expect((await metadata.listApps(owner.accountId)).map(({ id }) => id)).toEqual([kept.id]);
    expect(await metadata.listApps(guest.accountId)).toEqual([]);
    expect(await metadata.authenticate(apiKey)).not.toBeNull();
    wait(4_500);
    expect(await other.canRead(guest.accountId, doomed.id)).toBe(false);
    expect(await other.authenticateApp(doomed.id, doomed.secretKey)).toBeNull();
    for (const process of [metadata, other]) {
      expect(await process.links.authenticate(ended.token)).toBeNull();
      expect(await process.links.authenticate(token)).toMatchObject({ only: { app: kept.id } });
    }
  });

  test('can be repeated, and then deletes late rows', async () => {
    const { metadata, wait } = bench;
    const { principal } = await bench.account();
    const { id } = await metadata.createApp(principal, shop());
    await metadata.deleteApp(id);
    await addEvents(id);
    await metadata.deleteApp(id);
    expect(await rowsOf(id)).toEqual({ deleted_apps: 1 });
    await addEvents(id);
    expect(await metadata.resumeDeletions()).toBeGreaterThan(0);
    expect(await rowsOf(id)).toEqual({ deleted_apps: 1 });
    wait(120_000);
    expect(await metadata.resumeDeletions()).toBe(0);
    expect(await metadata.findApp(id)).toBeNull();
  });

  test('that was interrupted is finished at the next start', async () => {
    const { metadata, store, now } = bench;
    const { principal } = await bench.account();
    const { id, secretKey } = await metadata.createApp(principal, shop());
    await addEvents(id);
    // The rows that a process leaves if it is killed after its first step.
    await store.db.insert('deleted_apps', [
      { app_id: id, deleted_at: String(now() / 1000), erased_at: null, version: 1 },
    ]);
    const restarted = bench.another();
    expect(await restarted.authenticateApp(id, secretKey)).toBeNull();
    expect(await restarted.canRead(principal.accountId, id)).toBe(false);
    expect(await restarted.listApps(principal.accountId)).toEqual([]);
    await restarted.resumeDeletions();
    expect(Object.keys(await rowsOf(id))).toEqual(['deleted_apps']);
    await restarted.createApp(principal, shop());
  });

  test('of an unknown id is not found', async () => {
    await expect(bench.metadata.deleteApp(appId(randomUUID()))).rejects.toMatchObject({ code: 'not_found' });
  });
});
