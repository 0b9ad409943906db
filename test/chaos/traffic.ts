import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { contextArbitrary, eventArbitrary } from '../support/generate-events.ts';
import { GROUNDS, inOrder } from '../support/generate-ranges.ts';
import type { SentContext, SentEvent } from '../support/oracle/model.ts';
import type { Bounds } from '../support/oracle/questions.ts';
import type { Dice } from './dice.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/**
 * Changes of Tehran's daylight saving time, a leap day, the end of a year. The visits of an app are around
 * one of them, or around now.
 */
const ANCHORS = [
  '2021-03-21T20:30:00Z',
  '2021-09-21T19:30:00Z',
  '2022-03-21T20:30:00Z',
  '2022-09-21T19:30:00Z',
  '2024-02-29T20:30:00Z',
  '2025-12-31T20:30:00Z',
].map((text) => new Date(text).getTime());

export interface Visit {
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: number;
}

export interface Part {
  readonly session: Visit;
  readonly context: SentContext;
  readonly events: readonly SentEvent[];
}

/** A batch: sent under one id until it is acknowledged. */
export interface Batch {
  readonly batchId: string;
  readonly parts: readonly Part[];
  readonly events: number;
}

/** The generated traffic of one app. */
export interface Traffic {
  /** The number of visits so far. */
  readonly visits: number;
  batch(): Batch;
  /** Returns a range on or near the visits so far, or an open one. */
  range(): Bounds;
}

/** Makes traffic before `latest`. The same dice make the same visits. */
export function createTraffic(dice: Dice, latest: number): Traffic {
  const seed = dice.whole(2 ** 31);
  const contexts = fc
    .sample(contextArbitrary, { seed, numRuns: 120 })
    // With an empty one, the request's own would count: that of the HTTP client.
    .filter(({ userAgent }) => userAgent !== '');
  const kinds = fc.sample(eventArbitrary, { seed, numRuns: 400 });
  const anchor = dice.chance(0.6) ? latest : dice.one(ANCHORS);
  const days = dice.one([1, 3, 30]);
  const visits: Visit[] = [];
  const instants: number[] = [];
  const sooner = (at: number): number => Math.min(at, latest);

  const visit = (): Visit => {
    const whole = Math.floor(anchor / HOUR) * HOUR - dice.whole(days) * DAY;
    const startedAt = sooner(
      dice.chance(0.6)
        ? whole + (dice.whole(9) - 6) * (HOUR / 2) + dice.whole(3) - 1
        : whole - dice.whole(DAY),
    );
    const made = { id: `s${dice.whole(40)}`, visitorId: `v${dice.whole(15)}`, startedAt };
    visits.push(made);
    return made;
  };
  const time = ({ startedAt }: Visit): number => {
    const after = dice.weighted([
      [3, () => dice.whole(4)],
      [4, () => dice.whole(90) * MINUTE],
      [
        2,
        () => Math.ceil(startedAt / HOUR) * HOUR - startedAt + (dice.whole(6) * HOUR) / 2 + dice.whole(3) - 1,
      ],
      [1, () => dice.one([DAY, DAY - 1, dice.whole(DAY)])],
    ])();
    return Math.max(startedAt, sooner(startedAt + Math.min(after, DAY)));
  };
  const part = (): Part => {
    const session = visits.length === 0 || dice.chance(0.45) ? visit() : dice.one(visits);
    const events = Array.from({ length: 1 + dice.whole(6) }, () => ({
      ...dice.one(kinds),
      timestamp: time(session),
    }));
    instants.push(session.startedAt, ...events.map(({ timestamp }) => timestamp));
    const visitorId = dice.chance(0.1) ? `v${dice.whole(15)}` : session.visitorId;
    return { session: { ...session, visitorId }, context: dice.one(contexts), events };
  };
  const edge = (): number | null =>
    dice.chance(0.15)
      ? null
      : dice.one(GROUNDS)(dice.one(instants)) +
        dice.whole(3) -
        1 +
        dice.weighted([
          [4, 0],
          [1, dice.one([-DAY, -HOUR, HOUR, DAY, 3 * DAY])],
        ]);
  return {
    get visits() {
      return visits.length;
    },
    batch: () => {
      const parts = Array.from({ length: dice.chance(0.1) ? 20 : 1 + dice.whole(5) }, part);
      const events = parts.reduce((sum, { events }) => sum + events.length, 0);
      return { batchId: randomUUID(), parts, events };
    },
    range: () => (instants.length === 0 ? { from: null, to: null } : inOrder(edge(), edge())),
  };
}
