import fc from 'fast-check';
import { contextArbitrary, eventArbitrary } from './generate-events.ts';
import { at, edgeArbitrary, inOrder, momentArbitrary } from './generate-ranges.ts';
import { type Asked, askedArbitrary } from './generate-segments.ts';
import type { SentContext, SentEvent } from './oracle/model.ts';
import type { Bounds } from './oracle/questions.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** A batch of one app's sender, sent once or several times under one id. */
export interface SentBatch {
  /** Index of the app. */
  readonly app: number;
  readonly deliveries: readonly {
    readonly session: { readonly id: string; readonly visitorId: string; readonly startedAt: number };
    readonly context: SentContext;
    readonly events: readonly SentEvent[];
  }[];
  /** For each repetition, the number of batches after which it comes. */
  readonly again: readonly number[];
}

/** A question about the stored data. */
export interface Probe {
  readonly range: Bounds;
  readonly limit: number | undefined;
  /** Without it, no segment, and none of the questions that came with segments. */
  readonly asked?: Asked;
}

/** One story: batches in their order of arrival, then questions. */
export interface Case {
  readonly batches: readonly SentBatch[];
  /** The number of batches that arrive at the same time. */
  readonly parallel: number;
  readonly probes: readonly Probe[];
  /** The moments of the questions whose window follows the clock. */
  readonly moments: readonly number[];
}

/** The data is around one of these: midnights, ends of months, changes of daylight saving time. */
const ANCHORS = [
  '2026-11-20T00:00:00Z', // UTC midnight
  '2026-06-09T20:30:00Z', // Tehran midnight, without daylight saving
  '2026-10-31T23:00:00Z', // the last hour of a month in UTC, the first of the next in Tehran
  '2024-02-29T20:30:00Z',
  '2025-12-31T20:30:00Z',
  '2021-03-21T20:30:00Z', // Tehran goes from 00:00 to 01:00
  '2022-03-21T20:30:00Z',
  '2021-09-21T19:30:00Z', // Tehran goes from 24:00 back to 23:00
  '2022-09-21T19:30:00Z',
  '2022-09-23T00:00:00Z',
  '1970-01-28T20:30:00Z', // windows begin before it
].map((text) => new Date(text).getTime());

/** Offsets on hours (of UTC and Tehran), a ms beside them, or anywhere; a few are days away. */
const offsetArbitrary: fc.Arbitrary<number> = fc
  .record({
    day: fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.constantFrom(-1, 1) },
      { weight: 1, arbitrary: fc.integer({ min: -35, max: 35 }) },
    ),
    half: fc.integer({ min: -4, max: 4 }),
    beside: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(0, -1, 1) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * MINUTE - 1 }) },
    ),
  })
  .map(({ day, half, beside }) => day * DAY + (half * HOUR) / 2 + beside);

/** From a session's start to an event: equal times, crossed hours, up to exactly 24 h. */
const eventOffset: fc.Arbitrary<(startedAt: number) => number> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }).map((ms) => () => ms) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 90 }).map((minutes) => () => minutes * MINUTE) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom(-1, 0, 1))
      .map(([halves, beside]) => (startedAt: number) => {
        const halfHour = HOUR / 2;
        const next = Math.floor(startedAt / halfHour) * halfHour + halves * halfHour;
        return next + beside - startedAt;
      }),
  },
  { weight: 1, arbitrary: fc.constantFrom(DAY, DAY - 1).map((ms) => () => ms) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: DAY }).map((ms) => () => ms) },
);

const deliveryArbitrary = fc.record({
  session: fc.nat({ max: 7 }),
  visitor: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 4 }),
  context: contextArbitrary,
  events: fc.array(fc.tuple(eventOffset, eventArbitrary), { minLength: 1, maxLength: 8 }),
});

const storyArbitrary = (probes: number) =>
  fc.record({
    anchor: fc.constantFrom(...ANCHORS),
    apps: fc.integer({ min: 1, max: 3 }),
    sessions: fc.array(
      fc.record({
        id: fc.integer({ min: 1, max: 5 }),
        visitor: fc.integer({ min: 1, max: 4 }),
        offset: offsetArbitrary,
      }),
      { minLength: 1, maxLength: 8 },
    ),
    batches: fc.array(
      fc.record({
        app: fc.nat({ max: 2 }),
        deliveries: fc.array(deliveryArbitrary, { minLength: 1, maxLength: 4 }),
        again: fc.oneof(
          { weight: 4, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 2 }) },
        ),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    parallel: fc.constantFrom(1, 1, 3),
    probes: fc.array(
      fc.record({
        from: edgeArbitrary(),
        to: edgeArbitrary(),
        limit: fc.option(fc.constantFrom(1, 2, 3, 10_000), { nil: undefined, freq: 2 }),
        asked: askedArbitrary,
      }),
      { minLength: probes, maxLength: probes },
    ),
    moments: fc.array(momentArbitrary(), { minLength: 1, maxLength: 1 }),
  });

/** Cases for property tests; they shrink to few batches, sessions and events. */
export const casesWith = (probes: number): fc.Arbitrary<Case> =>
  storyArbitrary(probes).map((story) => {
    const batches = story.batches.map(({ app, deliveries, again }) => ({
      app: app % story.apps,
      again,
      deliveries: deliveries.map(({ session, visitor, context, events }) => {
        const of = at(story.sessions, session);
        const startedAt = Math.max(story.anchor + of.offset, 0);
        return {
          session: { id: `s${of.id}`, visitorId: `v${visitor ?? of.visitor}`, startedAt },
          context,
          events: events.map(([offset, event]) => {
            const ms = Math.min(Math.max(offset(startedAt), 0), DAY);
            return { ...event, timestamp: startedAt + ms };
          }),
        };
      }),
    }));
    const instants = instantsOf(batches);
    return {
      batches,
      parallel: story.parallel,
      probes: story.probes.map(({ from, to, limit, asked }) => ({
        asked,
        range: inOrder(from(instants), to(instants)),
        limit,
      })),
      moments: story.moments.map((moment) => moment(instants)),
    };
  });

/** With three ranges each. */
export const caseArbitrary = casesWith(3);

/** Every start and timestamp, ascending. */
export const instantsOf = (batches: readonly SentBatch[]): number[] =>
  batches
    .flatMap(({ deliveries }) => deliveries)
    .flatMap(({ session, events }) => [session.startedAt, ...events.map(({ timestamp }) => timestamp)])
    .sort((a, b) => a - b);
