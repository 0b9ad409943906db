import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createLog } from '../../src/http/server/log.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { type Service, startService } from '../../src/start/service.ts';

/*
 * A store of an earlier version, and its answers: sealed hours, hours with late events, and hours that were not sealed.
 * A later version opens and migrates the store, and answers the same. The start fails if a migration that the store has
 * was edited: changes of the schema are new migrations.
 */

const FILES = fileURLToPath(new URL('../data/stores/', import.meta.url));
const { apiKey, answers } = z
  .object({ apiKey: z.string(), answers: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(FILES, 'first.json'), 'utf8')));
/** The clock of the earlier version. */
const NOW = epochMs(Date.UTC(2026, 10, 20, 12));

let folder: string;
let service: Service;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-upgrade-'));
  const unpacked = spawnSync('tar', [
    '-xzf',
    join(FILES, 'first.tar.gz'),
    '-C',
    folder,
    '--strip-components=1',
  ]);
  expect(unpacked.status, String(unpacked.stderr)).toBe(0);
  const config = readConfig({ PORT: '0', MANAGEMENT_PORT: '0', DATA_DIR: folder });
  service = await startService(config, { log: createLog({ level: 'silent' }), clock: () => NOW });
});
afterAll(async () => {
  await service?.close();
  removeFolder(folder);
});

const ask = async (target: string): Promise<unknown> => {
  const response = await fetch(service.url + target, { headers: { Authorization: `Bearer ${apiKey}` } });
  expect(response.status, target).toBe(200);
  return response.json();
};

test('a store of an earlier version is opened and migrated, and answers as before', async () => {
  expect(Object.keys(answers).length).toBeGreaterThan(20);
  for (const [target, answer] of Object.entries(answers)) expect(await ask(target), target).toEqual(answer);
});

/** Matches all sessions. */
const ALL = '&segment=visitorType%3D%40e';
const DAYS = `from=${new Date(NOW - 3 * 86_400_000).toISOString()}&to=${new Date(NOW).toISOString()}`;
const SEGMENTED = [
  'sessions/overview/extended',
  'growth/utm',
  `sessions/overview/kpis?${DAYS}`,
  'sessions/traffic-heatmap',
];

/** Facts of the earlier version lack what segments need. */
async function expectSegments(): Promise<void> {
  const [appId] = Object.keys(answers).flatMap(
    (target) => new URL(target, service.url).searchParams.get('appId') ?? [],
  );
  for (const question of SEGMENTED) {
    const target = `/api/v1/${question}${question.includes('?') ? '&' : '?'}appId=${appId}`;
    expect(await ask(target + ALL), target).toEqual(await ask(target));
  }
}

test('facts of an earlier version do not answer questions with a segment', expectSegments);

test('sealed by this version, it answers the same', async () => {
  await service.sealer.run();
  for (const [target, answer] of Object.entries(answers)) expect(await ask(target), target).toEqual(answer);
  await expectSegments();
  await service.sealer.rebuild();
  await service.sealer.run();
  for (const [target, answer] of Object.entries(answers)) expect(await ask(target), target).toEqual(answer);
});
