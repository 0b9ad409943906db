import type { BenchOptions } from '../src/cli/bench-command.ts';
import { messageOf } from '../src/domain/thrown.ts';
import { benchData } from './data.ts';
import { benchHttp } from './http.ts';
import { benchIngest } from './ingest.ts';
import { benchOverload } from './overload.ts';
import { PRESETS, presetOf } from './presets.ts';
import { benchQueries } from './queries.ts';
import type { Recording } from './recording.ts';
import { benchScale } from './scale.ts';
import { benchSoak } from './soak.ts';

/** Runs all benches of this machine, one after the other. A part that fails does not keep the others from running. */
export async function runSuite(recording: Recording, dir: string, options: BenchOptions): Promise<void> {
  const preset = PRESETS[presetOf(options)];
  const { shape, scale, runs, pauseMs, seconds, ingestSeconds, soakMinutes } = preset;
  const parts: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'data and queries',
      async () => {
        await benchData(recording, dir, shape);
        await benchQueries(recording, dir, shape, { runs, pauseMs });
      },
    ],
    ['scale', () => benchScale(recording, dir, scale, runs)],
    ['http', () => benchHttp(recording, seconds, preset)],
    ['ingest', () => benchIngest(recording, ingestSeconds, preset)],
    ['overload', () => benchOverload(recording, preset.overloadSeconds, preset.overloadEvents)],
    ['soak', () => benchSoak(recording, { minutes: soakMinutes })],
  ];
  for (const [i, [name, run]] of parts.entries()) {
    if (recording.stopping) return;
    const later = preset.expected.slice(i + 1).reduce((sum, part) => sum + part, 0);
    recording.progress.part(`[${i + 1}/${parts.length}] `, later);
    await run().catch((error: unknown) => {
      if (recording.stopping) return;
      recording.fail(`${name} failed: ${messageOf(error)}`);
    });
  }
}
