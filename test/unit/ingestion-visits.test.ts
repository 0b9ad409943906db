import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS, type EpochMs, epochMs, toIso } from '../../src/domain/time.ts';
import {
  formerLogSessionId,
  LogSessions,
  logSessionId,
  logVisitorId,
} from '../../src/ingestion/log-sessions.ts';
import { type ValidSession, validateSessions } from '../../src/ingestion/validate.ts';
import { type StoredRequests, sessionIdsOf, settleVisits } from '../../src/ingestion/visits.ts';
import { forAll } from '../support/random.ts';

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const START = epochMs(Date.parse('2026-11-10T00:00:00Z'));
const NOW = epochMs(START + 30 * DAY_MS);
const VISITORS = ['198.51.100.1', '198.51.100.2'].map((address) => logVisitorId('app', address, AGENT));

interface Request {
  readonly visitorId: string;
  readonly at: EpochMs;
  readonly path: string;
}

/** The visits of a log, as an import sends them. */
function visitsOf(log: readonly Request[]): {
  visits: readonly ValidSession[];
  sent: readonly { events: readonly object[] }[];
} {
  const sessions = new LogSessions();
  const parts = log.flatMap((request) =>
    sessions.add({ ...request, userAgent: AGENT, referrer: `https://r.example${request.path}` }),
  );
  const sent = [...parts, ...sessions.end()].map(({ session }) => session);
  return { visits: validateSessions(sent, { now: NOW, maxAgeDays: null, userAgent: '' }).sessions, sent };
}

/** A store of requests, as imports fill it. */
class Store {
  readonly rows: (StoredRequests & { visitorId: string })[] = [];
  /** By session. */
  readonly referrers = new Map<string, string>();

  import(log: readonly Request[], acceptedFrom = epochMs(0)): number {
    const { visits, sent } = visitsOf(log);
    const stored = new Map(VISITORS.map((id) => [id, this.rows.filter(({ visitorId }) => visitorId === id)]));
    const { sessions, rejected } = settleVisits(visits, {
      stored,
      sentEvent: ({ index }, { position }) => sent[index]?.events[position] ?? {},
      acceptedFrom,
    });
    for (const { id, startedAt, visitorId, context, events } of sessions) {
      const key = `${id} ${startedAt}`;
      if (!this.referrers.has(key)) this.referrers.set(key, context.referrer);
      for (const { timestamp, path } of events)
        this.rows.push({ id, startedAt, visitorId, timestamp, path, events: 1 });
    }
    return rejected.length;
  }

  content(): string[] {
    const rows = this.rows.map(
      (row) => `${JSON.stringify(row)} ${this.referrers.get(`${row.id} ${row.startedAt}`) ?? ''}`,
    );
    return rows.sort();
  }
}

const MINUTE = 60_000;
const GAPS = [0, 0, 1_000, MINUTE, 20 * MINUTE, 29 * MINUTE, 30 * MINUTE, 30 * MINUTE + 1_000, 45 * MINUTE];
const logs = fc
  .array(
    fc.record({ gap: fc.constantFrom(...GAPS), visitor: fc.nat(1), path: fc.constantFrom('/a', '/b', '/c') }),
    {
      minLength: 1,
      maxLength: 150,
    },
  )
  .map((requests) => {
    let at: number = START;
    return requests.map(({ gap, visitor, path }): Request => {
      at += gap;
      return { visitorId: VISITORS[visitor] ?? '', at: epochMs(at), path };
    });
  });

test('a log that is imported in overlapping parts, as it grows, has the sessions of one import', async () => {
  const parts = fc.array(fc.tuple(fc.nat(40), fc.nat(60)), { maxLength: 12 });
  await forAll(
    fc.tuple(logs, parts),
    ([log, cuts]) => {
      const [whole, grown] = [new Store(), new Store()];
      whole.import(log);
      let end = 0;
      for (const [more, back] of [...cuts, [log.length, 0] as const]) {
        // Equal lines of one second come together: a part ends behind a second, and begins before one.
        const begin = edge(log, Math.max(0, end - back));
        end = edge(log, Math.min(log.length, end + more));
        grown.import(log.slice(Math.min(begin, end), end));
      }
      expect(grown.content()).toEqual(whole.content());
      grown.import(log);
      expect(grown.content()).toEqual(whole.content());
    },
    { runs: 1_000 },
  );
});

test('parts in any order store each request once', async () => {
  const parts = fc.array(fc.tuple(fc.nat(150), fc.nat(60)), { minLength: 1, maxLength: 12 });
  await forAll(
    fc.tuple(logs, parts),
    ([log, cuts]) => {
      const store = new Store();
      for (const [from, length] of cuts) {
        store.import(
          log.slice(edge(log, Math.min(from, log.length)), edge(log, Math.min(from + length, log.length))),
        );
      }
      store.import(log);
      const requests = store.rows.map(({ visitorId, timestamp: at, path }) =>
        JSON.stringify({ visitorId, at, path }),
      );
      expect(requests.sort()).toEqual(
        log.map(({ visitorId, at, path }) => JSON.stringify({ visitorId, at, path })).sort(),
      );
      for (const { startedAt, timestamp } of store.rows) {
        expect(timestamp).toBeGreaterThanOrEqual(startedAt);
        expect(timestamp - startedAt).toBeLessThanOrEqual(DAY_MS);
      }
    },
    { runs: 500 },
  );
});

/** The next index from which another second begins. */
function edge(log: readonly Request[], index: number): number {
  let at = index;
  while (at > 0 && at < log.length && log[at]?.at === log[at - 1]?.at) at++;
  return at;
}

test('the ids of all days are asked for on which a visit may have begun', async () => {
  await forAll(
    fc.tuple(fc.nat(10 * DAY_MS), fc.nat(2 * DAY_MS), fc.double({ min: 0, max: 1, noNaN: true })),
    ([begin, length, share]) => {
      const [from, to] = [epochMs(START + begin), epochMs(START + begin + length)];
      const ids = sessionIdsOf('v', from, to);
      const startedAt = from - DAY_MS + Math.floor(share * (to - from + DAY_MS));
      expect(ids).toContain(logSessionId('v', startedAt));
      expect(new Set(ids).size).toBeLessThanOrEqual(5);
    },
  );
});

test('requests that an earlier version has stored keep their session', () => {
  const [visitorId = ''] = VISITORS;
  const id = formerLogSessionId(visitorId, START);
  const store = new Store();
  store.rows.push({ id, startedAt: START, visitorId, timestamp: START, path: '/a', events: 1 });
  store.import([
    { visitorId, at: START, path: '/a' },
    { visitorId, at: epochMs(START + MINUTE), path: '/b' },
  ]);
  expect(store.rows.map((row) => [row.id, row.path])).toEqual([
    [id, '/a'],
    [id, '/b'],
  ]);
});

test('a session from before the retention takes no more requests', () => {
  const [visitorId = ''] = VISITORS;
  const store = new Store();
  store.import([{ visitorId, at: START, path: '/a' }]);
  const later = [1, 20, 55].map((minute) => ({
    visitorId,
    at: epochMs(START + minute * MINUTE),
    path: '/b',
  }));
  expect(store.import(later, epochMs(START + 1))).toBe(2);
  expect(store.rows.map(({ startedAt }) => toIso(startedAt))).toEqual([
    '2026-11-10T00:00:00.000Z',
    '2026-11-10T00:55:00.000Z',
  ]);
});
