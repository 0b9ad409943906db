import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answersOf, outcomeOf, partFiles, type Sound, soundStore } from '../support/damage.ts';
import { running } from './support.ts';

let sound: Sound;

beforeAll(async () => {
  sound = await soundStore();
});
afterAll(() => sound.remove());

const fileOf = (table: string, name: string) => {
  // A part of a higher level replaces others, whose files are still there.
  const level = ({ path }: { path: string }) =>
    Number(/_\d+_\d+_(\d+)(?:_\d+)?\/[^/]+$/.exec(path)?.[1] ?? 0);
  const [file] = partFiles(sound.dataDir)
    .filter((one) => one.table === table && one.name === name)
    .sort((a, b) => level(b) - level(a));
  if (file === undefined) throw new Error(`${table} has no ${name}`);
  return file;
};

test('an undamaged store is right, and loses no part', async () => {
  const outcome = await outcomeOf(sound, fileOf('events', 'columns.txt'), 'undamaged');
  expect(outcome).toEqual({ kind: 'right', what: '', detached: [] });
});

test.each([
  ['events', 'columns.txt', 'deleted', 'refused'],
  ['events', 'count.txt', 'flipped', 'refused'],
  ['events', 'minmax_timestamp.idx', 'zeroed', 'refused'],
  ['api_keys', 'count.txt', 'zeroed', 'refused'],
  ['ingest_batches', 'checksums.txt', 'truncated', 'refused'],
  ['page_facts', 'count.txt', 'flipped', 'rebuilt'],
  ['sealing_verdicts', 'columns.txt', 'zeroed', 'rebuilt'],
  ['sessions', 'count.txt', 'deleted', 'rebuilt'],
  ['traffic', 'checksums.txt', 'zeroed', 'rebuilt'],
  ['ledger', 'count.txt', 'flipped', 'rebuilt'],
])('%s: %s %s is %s', async (table, name, way, kind) => {
  const outcome = await outcomeOf(sound, fileOf(table, name), way);
  expect(outcome.kind, outcome.what).toBe(kind);
});

test('lost events that are accepted are gone from every figure, and the service goes on by itself', async () => {
  // Of all parts: from those that a damaged one has replaced, the engine takes the rows again.
  const lists = partFiles(sound.dataDir).filter(
    ({ table, name }) => table === 'events' && name === 'columns.txt',
  );
  for (const { path } of lists) writeFileSync(join(sound.dataDir, path), '');
  const damaged = await running({ DATA_DIR: sound.dataDir });
  const { app, key } = sound.tenant;
  const kpis = `/api/v1/sessions/overview/kpis?appId=${app.id}`;
  expect((await damaged.ask(kpis, { key })).status).toBe(503);
  expect((await damaged.ask('/healthz')).status).toBe(200);
  const listed = JSON.stringify(await damaged.admin('damage', 'list'));
  expect(listed).toContain('events are gone from every figure');
  expect(JSON.stringify(await damaged.admin('damage', 'accept', '--yes'))).toContain('"events"');
  await expect.poll(() => damaged.output().match(/"listening"/g)?.length).toBe(2);
  await damaged.stop();
  const again = await running({ DATA_DIR: sound.dataDir });
  expect((await again.ask('/readyz')).status).toBe(200);
  const found = await answersOf(again, sound);
  expect(found).not.toBe(sound.answers);
  await again.admin('seal', 'rebuild');
  expect(await answersOf(again, sound)).toBe(found);
  await again.kill();
});
