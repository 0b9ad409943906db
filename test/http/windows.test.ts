import { randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { askRightly, withService } from './operations.ts';

const NOW = '2026-11-20T08:15:00.000Z';
const service = withService({ now: NOW });
afterEach(() => vi.restoreAllMocks());

interface Window {
  readonly from: string;
  readonly to: string;
}

/** The names of statements of which one is a question's first. */
const OF_QUESTIONS = /^(snapshot|unsealed|parts|tehran)/;

test.each(['getOverviewKpis', 'getTrafficHeatmap', 'getAudienceActivity'])(
  '%s is about the moment that its tag names',
  async (operationId) => {
    const { clock, db, record } = service();
    clock.set(NOW);
    const ask = async () => {
      const { headers, json } = await askRightly(service(), operationId);
      const { current, from, to } = json as Window & { readonly current?: Window };
      return { tag: headers['etag'], from: current?.from ?? from, to: current?.to ?? to };
    };
    const before = await ask();
    const startedAt = '2026-11-20T08:00:00.000Z';
    const events = [{ type: 'pageview' as const, timestamp: startedAt, path: '/' }];
    await record([{ id: randomUUID(), visitorId: 'v', startedAt, events }]);
    // A day passes between the choice of the tag and the first statement of the question.
    const first = vi.fn(() => clock.advance(86_400_000));
    const rows = db.rows.bind(db);
    vi.spyOn(db, 'rows').mockImplementation((...args) => {
      if (OF_QUESTIONS.test(args[0].name) && first.mock.calls.length === 0) first();
      return rows(...args) as never;
    });
    const during = await ask();
    expect(first).toHaveBeenCalledOnce();
    expect(during).toEqual({ ...before, tag: during.tag });
    const after = await ask();
    expect(after.tag).not.toBe(during.tag);
    expect(after.from).not.toBe(during.from);
  },
);
