import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onServer, outcomeOf, type Place, partFiles, type Sound, soundStore } from '../support/damage.ts';

/*
 * Damaged parts of a ClickHouse server that has opened its tables without them, as after `force_restore_data`.
 */

type Case = readonly [table: string, name: string, way: string, kinds: string];

describe.each<[place: string, cluster: string, cases: Case[]]>([
  [
    'a server',
    '',
    [
      ['events', 'columns.txt', 'deleted', 'refused'],
      // A bit of a column that nobody asks for changes nothing.
      ['events', 'data.bin', 'flipped', 'refused or right'],
      ['api_keys', 'count.txt', 'zeroed', 'refused'],
      ['ingest_batches', 'checksums.txt', 'truncated', 'refused'],
      ['page_facts', 'count.txt', 'zeroed', 'rebuilt'],
      ['session_facts', 'columns.txt', 'deleted', 'rebuilt'],
      // The service does not compute these again by itself: other processes may be at work.
      ['sealing_verdicts', 'columns.txt', 'zeroed', 'refused'],
      ['sessions', 'count.txt', 'deleted', 'refused'],
      ['ledger', 'checksums.txt', 'zeroed', 'refused'],
    ],
  ],
  [
    'a cluster of two shards',
    'analytics',
    [
      // Nothing is computed again there: a replica may have the part.
      ['events', 'columns.txt', 'deleted', 'refused'],
      ['page_facts', 'count.txt', 'zeroed', 'refused'],
      ['api_keys', 'checksums.txt', 'truncated', 'refused'],
    ],
  ],
])('on %s', (_, cluster, cases) => {
  let place: Place;
  let sound: Sound;

  beforeAll(async () => {
    place = await onServer(cluster);
    sound = await soundStore(place);
  });
  afterAll(async () => {
    sound?.remove();
    await place?.end();
  });

  test.each(cases)('%s: %s %s is %s', async (table, name, way, kinds) => {
    const file = partFiles(sound.dataDir).find((one) => one.table === table && one.name === name);
    if (file === undefined) throw new Error(`${table} has no ${name}`);
    const outcome = await outcomeOf(sound, file, way);
    expect(kinds.split(' or '), outcome.what).toContain(outcome.kind);
  });
});
