import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { identifier, quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import type { Batch } from '../../src/ingestion/wire.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import {
  ingestionOn,
  newApp,
  REQUEST,
  sentUntilTaken,
  session,
  stored,
  totalsOf,
} from '../store/ingestion-support.ts';
import { onEachBackend } from '../support/backends.ts';
import { type Refusing, refusing } from '../support/refusing.ts';

const REFUSED = { code: 'validation_failed' };

onEachBackend((on) => {
  const mends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const mend of mends.splice(0)) await mend();
  });

  /** Makes the store refuse rows of `table`; the result ends that. */
  async function refuse(table: string, check: Sql): Promise<() => Promise<void>> {
    const name = identifier(`c${randomUUID().replaceAll('-', '')}`);
    await on.db.command(
      'refuse',
      sql`ALTER TABLE ${identifier(table)} ADD CONSTRAINT ${name} CHECK ${check}`,
    );
    const mend = () =>
      on.db.command('mend', sql`ALTER TABLE ${identifier(table)} DROP CONSTRAINT IF EXISTS ${name}`);
    mends.push(mend);
    return mend;
  }
  const started = async (): Promise<Ingestion> => {
    const ingestion = ingestionOn(on.db);
    await ingestion.start();
    return ingestion;
  };
  /** Repeats a batch until the store has accepted or refused it, as a sender does. */
  async function insist(ingestion: Ingestion, app: SdkApp, batch: Batch): Promise<string> {
    try {
      const { duplicate } = await sentUntilTaken(ingestion, app, batch);
      return duplicate ? 'duplicate' : 'stored';
    } catch (error) {
      if (error instanceof AppError) return error.code;
      throw error;
    }
  }
  const batchOf = (id: string) => ({ batchId: randomUUID(), sessions: [session(id)] });
  const TABLES = [
    ['the journal', 'ingest_journal', sql`session_id != 'poison'`],
    ['events', 'events', sql`session_id != 'poison'`],
  ] as const;

  test.each(TABLES)(
    'a batch that %s refuses is put aside, and all others are stored',
    async (_, table, check) => {
      const [app, ingestion] = [newApp(), await started()];
      const mend = await refuse(table, check);
      const poison = batchOf('poison');
      const others = Array.from({ length: 9 }, (_, i) => batchOf(`s${i}`));
      const batches = [...others.slice(0, 5), poison, ...others.slice(5)];
      const answers = await Promise.all(batches.map((batch) => insist(ingestion, app, batch)));
      expect(answers.map((answer) => answer === REFUSED.code)).toEqual(
        batches.map((batch) => batch === poison),
      );
      expect(await totalsOf(on.db, app.id)).toEqual(stored(9, 27));
      const ours = (await ingestion.setAside.list()).filter(({ appId }) => appId === app.id);
      expect(ours).toMatchObject([{ batchId: poison.batchId, events: 3, code: 469 }]);
      const [{ id } = { id: '' }] = ours;
      // Repeated too early it stays. A new start does not stop at it.
      await expect(ingestion.setAside.repeat(id)).rejects.toMatchObject(REFUSED);
      const next = await started();
      await next.accept(app, batchOf('after'), REQUEST);
      await mend();
      expect(await next.setAside.repeat(id)).toEqual({ id, outcome: 'stored' });
      await expect(next.setAside.repeat(id)).rejects.toMatchObject({ code: 'not_found' });
      expect(await next.accept(app, poison, REQUEST)).toMatchObject({ duplicate: true });
      expect(await totalsOf(on.db, app.id)).toEqual(stored(11, 33));
    },
  );

  test('ingestion waits for a broken store: nothing is put aside', async () => {
    const [app, ingestion] = [newApp(), await started()];
    await on.db.command('break', sql`RENAME TABLE sessions TO sessions_away`);
    const accepting = insist(ingestion, app, batchOf('a'));
    expect(await Promise.race([accepting, sleep(4_000)])).toBeUndefined();
    await on.db.command('mend', sql`RENAME TABLE sessions_away TO sessions`);
    expect(['stored', 'duplicate']).toContain(await accepting);
    expect(await ingestion.setAside.list()).not.toContainEqual(expect.objectContaining({ appId: app.id }));
    expect(await totalsOf(on.db, app.id)).toEqual(stored(1, 3));
  });

  test('a batch that is put aside and then stored by its sender is stored once, and is not listed', async () => {
    const [app, ingestion] = [newApp(), await started()];
    const mend = await refuse('events', sql`session_id != 'poison'`);
    const poison = batchOf('poison');
    expect(await insist(ingestion, app, poison)).toBe(REFUSED.code);
    const [{ id } = { id: '' }] = (await ingestion.setAside.list()).filter(({ appId }) => appId === app.id);
    await mend();
    expect(await ingestion.accept(app, poison, REQUEST)).toMatchObject({ accepted: 3 });
    await ingestion.drain();
    expect((await ingestion.setAside.list()).map((one) => one.id)).not.toContain(id);
    expect(await (await started()).setAside.repeat(id)).toEqual({ id, outcome: 'duplicate' });
    expect(await totalsOf(on.db, app.id)).toEqual(stored(1, 3));
  });

  test.each(['sessions', 'traffic'])(
    'a batch that a view into %s refuses delays no other, and is stored in full, once, after the view is repaired',
    async (table) => {
      const [app, other, ingestion] = [newApp(), newApp(), await started()];
      const mend = await refuse(table, sql`app_id != ${quoted(app.id)}`);
      const first = batchOf('first');
      await expect(ingestion.accept(app, first, REQUEST)).rejects.toMatchObject({
        code: 'store_unavailable',
      });
      // From now on rows are tried first, so that no more rows get into only one of the tables.
      const second = batchOf('second');
      const answers = await Promise.all(
        [second, batchOf('a'), batchOf('b')].map((batch, i) =>
          insist(ingestion, i === 0 ? app : other, batch),
        ),
      );
      expect(answers[0]).toBe(REFUSED.code);
      expect(answers.slice(1)).not.toContain(REFUSED.code);
      expect(await totalsOf(on.db, other.id)).toEqual(stored(2, 6));
      expect((await totalsOf(on.db, app.id)).raw).toBe(3);
      // A start in this state does not wait for the batch, and does not store it twice.
      const next = await started();
      await next.accept(other, batchOf('c'), REQUEST);
      if (on.db.engine === 'embedded') {
        await expect(next.accept(app, first, REQUEST)).rejects.toMatchObject({ code: 'store_unavailable' });
      }
      await mend();
      const [{ id } = { id: '' }] = (await next.setAside.list()).filter(({ appId }) => appId === app.id);
      expect(await next.setAside.repeat(id)).toEqual({ id, outcome: 'stored' });
      // A process that is alone on its store knows of the batch, which it has found and not stored.
      const later = on.db.engine === 'embedded' ? next : ingestion;
      await later.sweep();
      expect(await later.accept(app, first, REQUEST)).toMatchObject({ duplicate: true });
      expect(await totalsOf(on.db, app.id)).toEqual(stored(2, 6));
    },
  );

  test.each(['ingest_begun', 'ledger', 'ingest_batches'])(
    'a flush whose step in %s is refused delays no other, and is counted once after the repair',
    async (table) => {
      const [app, other, ingestion] = [newApp(), newApp(), await started()];
      const mend = await refuse(table, sql`app_id != ${quoted(app.id)}`);
      const batches = [batchOf('first'), batchOf('second'), batchOf('third')];
      for (const batch of batches) {
        const [, ...others] = await Promise.all([
          ingestion.accept(app, batch, REQUEST).catch((error: unknown) => error),
          ...['a', 'b'].map((id) => ingestion.accept(other, batchOf(`${id}-${batch.batchId}`), REQUEST)),
        ]);
        expect(others).toEqual([
          expect.objectContaining({ accepted: 3 }),
          expect.objectContaining({ accepted: 3 }),
        ]);
      }
      expect(await totalsOf(on.db, other.id)).toEqual(stored(6, 18));
      // An erasure of the other app finds its moment, and none of this app does as long as a part is stored.
      expect(await ingestion.moment(other.id)).toBeGreaterThan(0);
      if (table !== 'ingest_begun') {
        await expect(ingestion.moment(app.id)).rejects.toMatchObject({ code: 'overloaded' });
      }
      const next = await started();
      await next.accept(other, batchOf('after'), REQUEST);
      await mend();
      await ingestion.sweep();
      await next.sweep();
      for (const { id, appId } of await next.setAside.list())
        if (appId === app.id) await next.setAside.repeat(id);
      for (const batch of batches) {
        const last = on.db.engine === 'embedded' ? next : ingestion;
        expect(await sentUntilTaken(last, app, batch)).toMatchObject({ duplicate: true });
      }
      await holdsNothing(next);
      expect(await totalsOf(on.db, app.id)).toEqual(stored(3, 9));
      expect(await totalsOf(on.db, other.id)).toEqual(stored(7, 21));
    },
  );

  /** Stores batches of an app, one each. */
  async function goesOn(ingestion: Ingestion, app: SdkApp, ids: readonly string[]): Promise<void> {
    const answers = await Promise.all(ids.map((id) => ingestion.accept(app, batchOf(id), REQUEST)));
    expect(answers).toEqual(ids.map(() => expect.objectContaining({ accepted: 3 })));
  }

  /** Asked for if `events` itself accepts the rows. */
  const VIEWS = 'ingestion: views on events';
  /** Statements that follow on a refusal. */
  const NEXT = [
    'ingestion: rehearsal',
    'rehearsal_',
    VIEWS,
    'ingestion: end of a rehearsal',
    'ingestion: withdraw flush',
    'ingestion: size of what is put aside',
    'ingest_set_aside',
    'ingestion: stored batches',
    'ingestion: claims',
    'ingestion: stored batches of a flush',
    'ingestion: verdict',
    'ingestion: is stored',
    'ingestion: is written down',
    'ingestion: batches of a flush',
  ];

  /** Sends a batch. Everything that the store is asked for after its first refusal waits for `store.goOn`. */
  async function untilRefused(store: Refusing, ingestion: Ingestion, app: SdkApp, batch: Batch) {
    const refused = store.stopAtRefusal();
    const answer = ingestion.accept(app, batch, REQUEST).catch((error: unknown) => error);
    // Not every store is asked everything: then the batch has its answer.
    await Promise.race([refused, answer]);
    return { answer };
  }

  /** Nobody waits for the marks of a flush. If the store refused them, the flush may be held only now. */
  const holdsNothing = (ingestion: Ingestion): Promise<void> =>
    expect.poll(() => ingestion.sweep().then(() => ingestion.stats().held)).toBe(0);

  /** Stores everything of an app that was refused before. */
  async function mended(ingestion: Ingestion, app: SdkApp, batch: Batch): Promise<void> {
    await ingestion.sweep();
    for (const { id, appId } of await ingestion.setAside.list()) {
      if (appId === app.id) await ingestion.setAside.repeat(id);
    }
    await sentUntilTaken(ingestion, app, batch);
    await holdsNothing(ingestion);
  }

  test('whichever statement that follows on a refusal is refused for good, too, others go on before it is repeated', async () => {
    const seen = new Set<string>();
    for (const name of NEXT) {
      const [app, other] = [newApp(), newApp()];
      const mend = await refuse(name === VIEWS ? 'traffic' : 'events', sql`app_id != ${quoted(app.id)}`);
      const store = refusing(on.db, app.id);
      const ingestion = ingestionOn(store.db);
      await ingestion.start();
      await goesOn(ingestion, other, ['a', 'b']);
      store.refused = name;
      const batch = batchOf('poison');
      for (const ids of [
        ['c', 'd'],
        ['e', 'f'],
      ]) {
        const { answer } = await untilRefused(store, ingestion, app, batch);
        await goesOn(ingestion, other, ids);
        store.goOn();
        expect(await answer, name).toBeInstanceOf(AppError);
      }
      for (const one of store.names) seen.add(one);
      store.refused = null;
      await mend();
      await mended(ingestion, app, batch);
      expect(await totalsOf(on.db, app.id), name).toEqual(stored(1, 3));
      expect(await totalsOf(on.db, other.id), name).toEqual(stored(6, 18));
      await ingestion.drain();
    }
    // No name is one that the service does not use any more.
    expect([...seen]).toEqual(expect.arrayContaining(NEXT.slice(0, 7)));
  }, 1_200_000);

  test('whichever statement of a flush is refused, others are stored before anything follows, and it is counted once', async () => {
    const probe = newApp();
    const recorded = refusing(on.db, probe.id);
    const recording = ingestionOn(recorded.db);
    await recording.start();
    await recording.accept(probe, batchOf('probe'), REQUEST);
    await recording.drain();
    expect(recorded.names).toContain('ledger');
    for (const name of recorded.names) {
      const [app, other] = [newApp(), newApp()];
      const store = refusing(on.db, app.id);
      const ingestion = ingestionOn(store.db);
      await ingestion.start();
      store.refused = name;
      const batch = batchOf('poison');
      const { answer } = await untilRefused(store, ingestion, app, batch);
      await goesOn(ingestion, other, ['a', 'b']);
      await goesOn(ingestion, other, ['c']);
      store.goOn();
      await answer;
      await goesOn(ingestion, other, ['d']);
      store.refused = null;
      await mended(ingestion, app, batch);
      expect(await totalsOf(on.db, app.id), name).toEqual(stored(1, 3));
      expect(await totalsOf(on.db, other.id), name).toEqual(stored(4, 12));
      await ingestion.drain();
    }
  }, 1_200_000);

  test.each(['ingest_journal', 'events'])(
    'the batches that share a flush with one that %s refuses are stored by the next one',
    async (table) => {
      const [app, ...others] = [newApp(), ...Array.from({ length: 64 }, newApp)];
      const mend = await refuse(table, sql`app_id != ${quoted(app.id)}`);
      const store = refusing(on.db, app.id);
      const ingestion = ingestionOn(store.db);
      await ingestion.start();
      await ingestion.accept(newApp(), batchOf('first'), REQUEST);
      const send = (one: SdkApp) => insist(ingestion, one, batchOf('s'));
      const [before, poison, after] = [others.slice(0, 40).map(send), send(app), others.slice(40).map(send)];
      expect(await Promise.all([...before, ...after])).toEqual(others.map(() => 'stored'));
      expect(await poison).toBe(REFUSED.code);
      // With others, and alone.
      expect(store.counts.get('ingest_journal')).toBeLessThanOrEqual(2);
      await mend();
      await ingestion.drain();
    },
  );

  test('apps that share a refused flush go on with their next batches, also if no trial shows which one is the reason', async () => {
    const [app, ...others] = [newApp(), ...Array.from({ length: 8 }, newApp)];
    const store = refusing(on.db, app.id);
    const ingestion = ingestionOn(store.db);
    await ingestion.start();
    await goesOn(ingestion, newApp(), ['first']);
    store.refused = 'events';
    const shared = [app, ...others].map((one) => ({ one, batch: batchOf('shared') }));
    await Promise.allSettled(shared.map(({ one, batch }) => ingestion.accept(one, batch, REQUEST)));
    for (let i = 0; i < 3; i++) {
      const poison = ingestion.accept(app, batchOf(`p${i}`), REQUEST).catch((error: unknown) => error);
      await Promise.all(others.map((other) => goesOn(ingestion, other, [`s${i}`])));
      expect(await poison).toBeInstanceOf(AppError);
    }
    store.refused = null;
    await ingestion.sweep();
    for (const { one, batch } of shared) await sentUntilTaken(ingestion, one, batch);
    for (const other of others) expect(await totalsOf(on.db, other.id)).toEqual(stored(4, 12));
    await ingestion.drain();
  });

  test('an app with a refused batch is stored apart: it shares no flush with others for some minutes', async () => {
    const [app, other] = [newApp(), newApp()];
    const mend = await refuse('traffic', sql`app_id != ${quoted(app.id)}`);
    const ingestion = ingestionOn(on.db);
    await ingestion.start();
    const first = batchOf('first');
    await expect(ingestion.accept(app, first, REQUEST)).rejects.toMatchObject({ code: 'store_unavailable' });
    for (let i = 0; i < 3; i++) {
      const poison = ingestion.accept(app, batchOf(`p${i}`), REQUEST).catch((error: unknown) => error);
      await goesOn(ingestion, other, [`a${i}`, `b${i}`]);
      expect(await poison).toMatchObject(REFUSED);
    }
    expect(ingestion.stats().held).toBe(1);
    await mend();
    await mended(ingestion, app, first);
    await goesOn(ingestion, app, ['after']);
    await ingestion.drain();
  });
});
