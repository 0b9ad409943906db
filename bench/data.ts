import { printSealing, printStorage } from './print-queries.ts';
import type { Recording } from './recording.ts';
import type { Shape } from './shape.ts';
import { storage, storageByTable } from './storage.ts';
import { openBenchStore } from './store.ts';

/** Builds the data set, or finds it built, and reports its storage by kind and the speed of sealing. */
export async function benchData(recording: Recording, dir: string, shape: Shape): Promise<void> {
  const { db, manifest } = await openBenchStore(recording, dir, shape, () => undefined);
  const labels = { ...shape };
  try {
    recording.progress.end();
    const groups = await storage(db);
    printStorage(groups, await storageByTable(db));
    for (const { group, bytes, rows } of groups) {
      const common = { bench: 'data', name: group, labels };
      recording.record({ ...common, measure: 'storage', unit: 'bytes', runs: [bytes] });
      recording.record({ ...common, measure: 'rows', unit: 'rows', better: null, runs: [rows] });
    }
    for (const kind of ['page', 'session'] as const) {
      const { events, ms } = manifest.sealing[kind];
      recording.record({
        bench: 'data',
        name: `sealing ${kind} facts`,
        measure: 'throughput',
        unit: 'events/s',
        better: 'higher',
        labels,
        runs: [(events * 1000) / ms],
      });
    }
    const peak = manifest.sealing.peakBytes / 1024 ** 2;
    recording.record({
      bench: 'data',
      name: 'sealing',
      measure: 'peak memory',
      unit: 'MiB',
      labels,
      runs: [peak],
    });
    printSealing(manifest);
  } finally {
    await db.close();
  }
}
