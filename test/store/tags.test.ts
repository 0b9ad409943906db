import { expect, test } from 'vitest';
import * as scopes from '../../src/analytics/scopes.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createSnapshots } from '../../src/snapshots/snapshots.ts';
import { oracleStore } from '../support/oracle/store.ts';
import { testTags } from '../support/tags.ts';

const DAY = 86_400_000;

const on = oracleStore();

// `npm run test:long` runs more stories.
testTags(on, 3);

test('a closed range keeps its tag while later data comes in, and loses it to late data', async () => {
  const snapshots = createSnapshots(on.store.db);
  const [app] = [crypto.randomUUID() as AppId];
  const send = (startedAt: number) =>
    on.subject.deliver({ id: app, domain: 'https://shop.example' }, crypto.randomUUID(), [
      {
        session: { id: `s${startedAt}`, visitorId: 'v', startedAt },
        context: {},
        events: [{ type: 'pageview', timestamp: startedAt, path: '/' }],
      },
    ]);
  const from = epochMs(Date.UTC(2026, 4, 1));
  const range = { from, to: epochMs(from + DAY - 1) };
  const tags = async () =>
    Promise.all(
      [scopes.overviewBasis(range), scopes.eventsBasis(range), scopes.growthBasis(range)].map(
        async ({ scope }) => (await snapshots(app, scope)).version,
      ),
    );
  await send(from + 5);
  const before = await tags();
  await send(from + 3 * DAY);
  expect(await tags()).toEqual(before);
  await send(from + 7);
  const after = await tags();
  after.forEach((version, i) => {
    expect(version).not.toEqual(before[i]);
  });
});
