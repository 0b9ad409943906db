import fc from 'fast-check';
import type { Case, SentBatch } from './generate.ts';
import { instantsOf } from './generate.ts';
import { contextArbitrary, eventArbitrary } from './generate-events.ts';
import { at, GROUNDS, inOrder } from './generate-ranges.ts';
import { askedArbitrary } from './generate-segments.ts';

const HOUR = 3_600_000;
const DAY = 86_400_000;

export interface TrafficOptions {
  readonly seed: number;
  readonly apps: number;
  readonly sessions: number;
  readonly visitors: number;
  /** Epoch ms of the first start. */
  readonly from: number;
  readonly days: number;
  /** The number of ranges to ask for, besides the whole. */
  readonly probes: number;
}

/**
 * Makes one large case from a seed: many sessions over many days, most of them in a few hours of each day. A
 * session has one to three deliveries, a tenth of them late. A batch has up to 100 sessions.
 */
export function randomTraffic(options: TrafficOptions): Case {
  const random = randomFrom(options.seed);
  const whole = (below: number): number => Math.floor(random() * below);
  const sampled = <Value>(arbitrary: fc.Arbitrary<Value>, numRuns: number): Value[] =>
    fc.sample(arbitrary, { seed: options.seed, numRuns });
  const contexts = sampled(contextArbitrary, 300);
  const events = sampled(eventArbitrary, 2_000);

  const parts = Array.from({ length: options.sessions }, () => {
    const app = whole(options.apps);
    const busyHour = [0, 3, 12, 20][whole(4)] ?? 0;
    const startedAt = options.from + whole(options.days) * DAY + busyHour * HOUR + whole(HOUR);
    const session = {
      id: `s${whole(options.sessions)}`,
      visitorId: `v${whole(options.visitors)}`,
      startedAt,
    };
    return Array.from({ length: 1 + whole(3) }, () => {
      const longest = random() < 0.1 ? DAY : 2 * HOUR;
      const sent = Array.from({ length: 1 + whole(6) }, () => ({
        ...at(events, whole(events.length)),
        timestamp: startedAt + whole(longest),
      }));
      const arrivesAt = startedAt + (random() < 0.1 ? whole(options.days * DAY) : whole(DAY));
      return {
        app,
        arrivesAt,
        delivery: { session, context: at(contexts, whole(contexts.length)), events: sent },
      };
    });
  }).flat();

  const batches = batched(parts.sort((a, b) => a.arrivesAt - b.arrivesAt));
  const instants = instantsOf(batches);
  const edge = (): number => {
    const ground = at(GROUNDS, whole(GROUNDS.length));
    return ground(at(instants, whole(instants.length))) + whole(3) - 1;
  };
  return {
    batches: batches.map((batch) => ({ ...batch, again: random() < 0.1 ? [whole(5)] : [] })),
    parallel: 8,
    probes: [
      { range: { from: null, to: null }, limit: undefined },
      ...sampled(askedArbitrary, options.probes).map((asked) => ({
        range: inOrder(edge(), edge()),
        limit: undefined,
        asked,
      })),
    ],
    moments: [at(instants, whole(instants.length)), at(instants, instants.length - 1)],
  };
}

function batched(
  parts: readonly { readonly app: number; readonly delivery: SentBatch['deliveries'][number] }[],
): SentBatch[] {
  const apps = [...new Set(parts.map(({ app }) => app))];
  const slices = Array.from({ length: Math.ceil(parts.length / 100) }, (_, i) =>
    parts.slice(i * 100, i * 100 + 100),
  );
  return slices
    .flatMap((slice) =>
      apps.map((app) => ({
        app,
        again: [],
        deliveries: slice.filter((part) => part.app === app).map(({ delivery }) => delivery),
      })),
    )
    .filter(({ deliveries }) => deliveries.length > 0);
}

/** Returns numbers in [0, 1) from a seed: a 32-bit counter with mixed bits (splitmix32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let bits = state;
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
  };
}
