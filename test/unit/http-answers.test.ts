import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import type { Scope } from '../../src/domain/scope.ts';
import { type EpochMs, epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { type AnswerSource, Answers } from '../../src/http/answer/answers.ts';
import type { Asked } from '../../src/http/answer/asked.ts';
import { Bodies } from '../../src/http/forms/bodies.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import type { Begun } from '../../src/snapshots/begun.ts';
import { publishedOf } from '../../src/snapshots/published.ts';
import type { Snapshot } from '../../src/snapshots/read.ts';

const folder = mkdtempSync(join(tmpdir(), 'analytics-answers-'));
const bodies = new Bodies(join(folder, 'bodies'));
afterAll(() => {
  bodies.close();
  removeFolder(folder);
});

const APP = appId('11111111-1111-4111-8111-111111111111');
const SCOPE = { events: null, sessions: null };

const snapshotOf = (era: string, version: Snapshot['version'] = [1, 1]): Snapshot => ({
  published: { page: publishedOf(), session: publishedOf() },
  late: { page: [], session: [] },
  keptFrom: epochMs(0),
  era,
  rebuilt: '',
  endsExactly: false,
  erasures: '0 0',
  isErasing: false,
  version,
  sessionEvents: version[1],
  pendingEvents: 0,
  starts: null,
  extent: null,
  asOf: null,
  heldUntil: epochMs(0),
});

/** The app's snapshots, in the order in which they are read; the last one stays. */
const answersOf = (...snapshots: readonly [Snapshot, ...Snapshot[]]) =>
  answersAbout(SCOPE, null, ...snapshots);

/** `last`: the time of the last event whose storing has begun, if it is known. */
function answersAbout(scope: Scope, last: EpochMs | null, ...snapshots: readonly [Snapshot, ...Snapshot[]]) {
  const sources: AnswerSource[] = [];
  const computedFrom: string[] = [];
  const exactly: boolean[] = [];
  const left = [...snapshots];
  const now = (): Snapshot => left[0] ?? snapshots[0];
  const read = async (): Promise<Snapshot> => {
    const snapshot = now();
    if (left.length > 1) left.shift();
    return snapshot;
  };
  const begun = async (): Promise<Begun> => ({ version: now(), last, era: now().era });
  const answers = new Answers(read, begun, {
    questionsAtOnce: 2,
    answerCacheBytes: 1_000_000,
    bodies,
    onAnswer: (source) => sources.push(source),
  });
  const asked: Asked = {
    account: 'account' as Asked['account'],
    app: APP,
    operationId: 'getDataBounds',
    query: {},
    basis: { scope, window: '', end: scope.events?.to ?? null },
    compute: async (snapshot) => {
      computedFrom.push(snapshot.era);
      exactly.push(snapshot.endsExactly);
      return { era: snapshot.era };
    },
  };
  return { ask: async () => (await answers.ask(asked, null)).result(), sources, computedFrom, exactly };
}

test('an answer is computed once for a version, from the snapshot that its tag names', async () => {
  const { ask, sources, computedFrom } = answersOf(snapshotOf('one'));
  const first = await ask();
  expect((await ask()).tag).toBe(first.tag);
  expect(sources).toEqual(['computed', 'cached']);
  expect(computedFrom).toEqual(['one']);
});

test('if rows were deleted meanwhile, the answer is computed again, and cached for the same version', async () => {
  const { ask, sources, computedFrom } = answersOf(snapshotOf('one'), snapshotOf('two'));
  const first = await ask();
  expect(computedFrom).toEqual(['one', 'two']);
  expect((await ask()).tag).toBe(first.tag);
  expect(sources).toEqual(['computed', 'cached']);
});

test('an answer that was computed again is tagged by the version that it then rested on', async () => {
  const { ask, sources, computedFrom } = answersOf(snapshotOf('one', [1, 1]), snapshotOf('two', [2, 2]));
  const first = await ask();
  expect(computedFrom).toEqual(['one', 'two']);
  expect((await ask()).tag).toBe(first.tag);
  expect(sources).toEqual(['computed', 'cached']);
});

test('if events came meanwhile, the answer is tagged by its bytes, and not cached', async () => {
  const { ask, sources } = answersOf(snapshotOf('one', [1, 1]), snapshotOf('one', [2, 2]));
  const first = await ask();
  const second = await ask();
  expect(second.tag).not.toBe(first.tag);
  expect((await ask()).tag).toBe(second.tag);
  expect(sources).toEqual(['computed', 'computed', 'cached']);
});

test('if events came meanwhile in the hour in which the range ends, the second answer ends exactly', async () => {
  const ends = (to: number): Scope => ({ events: { from: epochMs(0), to: epochMs(to) }, sessions: null });
  const at = (last: number, version: number): Snapshot => ({
    ...snapshotOf('one', [version, version]),
    extent: { from: epochMs(0), to: epochMs(last) },
  });
  for (const [last, to, begun, attempts] of [
    [20, 30, null, [false, true]],
    [20, 30, 31, [false, true]],
    // None of the events was from after the range.
    [20, 30, 30, [false]],
    // Nothing is read beyond the range.
    [40, 30, null, [false]],
    [20, HOUR_MS - 1, null, [false]],
    [20, HOUR_MS, null, [false]],
  ] as const) {
    const lastBegun = begun === null ? null : epochMs(begun);
    const { ask, exactly } = answersAbout(ends(to), lastBegun, at(last, 1), at(last, 2), at(last, 3));
    await ask();
    expect(exactly).toEqual(attempts);
  }
});

test('an app whose rows are deleted all the time is refused after five attempts', async () => {
  const eras = ['1', '2', '3', '4', '5', '6'].map((era) => snapshotOf(era));
  const { ask, computedFrom } = answersOf(...(eras as [Snapshot]));
  await expect(ask()).rejects.toMatchObject({ code: 'overloaded' });
  expect(computedFrom).toEqual(['1', '2', '3', '4', '5']);
});
